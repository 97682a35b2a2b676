package org.softrdma.testkit.walk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** A walk uses keys of regions that are gone only where they name no other region soon. */
class LoopbackWalkTest {
    private record Named(String name) implements VerbsProvider {
        @Override
        public Usability usability() {
            return Usability.usable(name);
        }

        @Override
        public Map<String, String> options() {
            return Map.of();
        }

        @Override
        public VerbsDevice open(Map<String, String> options) {
            throw new UnsupportedOperationException();
        }
    }

    @ParameterizedTest
    @CsvSource({"sim, false", "sanitised:sim, false", "rdmacore, true", "disni, true", "whim, true"})
    void shouldSayWhoseKeysComeAgainSoon(String provider, boolean soon) {
        LoopbackWalk walk = new LoopbackWalk(new Named(provider), Map.of(), InetAddress.getLoopbackAddress());

        assertEquals(soon, walk.reusesKeys());
    }
}
