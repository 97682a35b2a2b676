package org.softrdma.net.transport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * A parameterised test whose argument is each transport in turn; in ci/verify it is one of them if the test is tagged
 * "sampled". One that does not work here is skipped, and the reason told.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(EveryTransport.Names.class)
@ExtendWith(EveryTransport.SkipUnavailable.class)
public @interface EveryTransport {
    /** The names as arguments. */
    final class Names implements ArgumentsProvider {
        @Override
        @SuppressWarnings({"deprecation", "removal"}) // the one with parameters is newer than some of JUnit 5
        public Stream<? extends Arguments> provideArguments(ExtensionContext context) {
            return TransportKinds.of(context).map(Arguments::of);
        }
    }

    /** Skips invocations of which an argument names a transport that does not work here. */
    final class SkipUnavailable implements InvocationInterceptor {
        @Override
        public void interceptTestTemplateMethod(
                Invocation<Void> invocation,
                ReflectiveInvocationContext<Method> invocationContext,
                ExtensionContext extensionContext)
                throws Throwable {
            try {
                for (Object argument : invocationContext.getArguments()) {
                    if (argument instanceof String name) {
                        TransportKinds.require(name);
                    }
                }
            } catch (RuntimeException | Error e) {
                invocation.skip();
                throw e;
            }
            invocation.proceed();
        }
    }
}
