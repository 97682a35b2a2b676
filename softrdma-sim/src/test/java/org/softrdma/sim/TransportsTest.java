package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.samehost.NearProcess;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

class TransportsTest {
    private static final SocketOptions OPTIONS = new SocketOptions(0, 0, 0);

    /** Opens devices until there are no descriptors left, closes them, and opens one more. */
    static final class ManyDevices {
        private ManyDevices() {}

        public static void main(String[] arguments) {
            List<VerbsDevice> devices = new ArrayList<>();
            try {
                while (true) {
                    devices.add(new SoftRdmaProvider().open(Map.of()));
                }
            } catch (VerbsException e) {
                System.out.println(e.code() + ": " + e.getMessage());
            }
            devices.forEach(VerbsDevice::close);
            new SoftRdmaProvider().open(Map.of()).close();
            System.out.println("and again");
        }
    }

    @Test
    void shouldSayThatNoDescriptorIsLeft() throws Exception {
        Process process = NearProcess.start(List.of("prlimit", "--nofile=100"), ManyDevices.class);
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        assertTrue(said.matches("NO_RESOURCES: .*Too many open files\\Rand again\\R"), said);
    }

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
