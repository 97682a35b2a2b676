package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.UncheckedIOException;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.UringNetwork;

class SocketNetworkTest {
    /** As in a program that uses kv without kv-streams, which runs these tests too. */
    @Test
    void shouldSayWhatIsMissingForUring() {
        Assumptions.assumeTrue(
                ServiceLoader.load(UringNetwork.class).findFirst().isEmpty());
        UncheckedIOException failure = assertThrows(
                UncheckedIOException.class, () -> new RunningServer(context -> context.io(PortSettings.Io.URING)));
        assertEquals(
                "the memcached port cannot use uring here: the module kv-streams is not on the class path",
                failure.getMessage());
    }
}
