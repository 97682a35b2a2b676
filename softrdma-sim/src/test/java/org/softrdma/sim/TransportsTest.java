package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.transport.NettyTransport;
import org.softrdma.sim.transport.SocketOptions;
import org.softrdma.sim.transport.Transport;

class TransportsTest {
    private static final SocketOptions OPTIONS = new SocketOptions(0, 0, 0);

    private static String taken(boolean manual) {
        try (Transport transport = Transports.open("auto", 1, manual, OPTIONS)) {
            return transport.name();
        }
    }

    private static void assumeUring(boolean usable) {
        Assumptions.assumeTrue(NettyTransport.epollUnavailable() == null, NettyTransport::epollUnavailable);
        Assumptions.assumeTrue(NettyTransport.uringObstacle().isEmpty() == usable, "io_uring works here: " + !usable);
    }

    @Test
    void shouldTakeUringForEnginesAndEpollForSpinningThreads() {
        assumeUring(true);
        assertEquals("uring", taken(false));
        assertEquals("epoll", taken(true));
        assertEquals("io_uring (in manual progress by epoll)", Transports.describe());
    }

    @Test
    void shouldSayWhyItDoesWithoutUring() {
        assumeUring(false);
        assertEquals("epoll", taken(false));
        assertEquals("epoll", taken(true));
        String described = Transports.describe();
        assertTrue(described.startsWith("epoll; io_uring does not work here: "), described);
    }
}
