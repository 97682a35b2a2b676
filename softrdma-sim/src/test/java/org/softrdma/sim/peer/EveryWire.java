package org.softrdma.sim.peer;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.net.transport.TransportKinds;

/** As {@link EveryTransport}, on each wire: the first argument is the wire, the second one the transport. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(EveryWire.Names.class)
@ExtendWith(EveryTransport.SkipUnavailable.class)
public @interface EveryWire {
    /** The names as arguments. */
    final class Names implements ArgumentsProvider {
        @Override
        @SuppressWarnings({"deprecation", "removal"}) // the one with parameters is newer than some of JUnit 5
        public Stream<? extends Arguments> provideArguments(ExtensionContext context) {
            return Stream.of("iwarp", "roce")
                    .flatMap(wire -> TransportKinds.of(context).map(transport -> Arguments.of(wire, transport)));
        }
    }
}
