package org.softrdma.kv.server;

import org.junit.jupiter.api.Assumptions;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.netty.PortSockets;
import org.softrdma.kv.server.netty.UringSwitches;

/** For tests that run over each way of doing I/O. */
final class EachIo {
    private EachIo() {}

    /** Skips the test if this machine lacks it. */
    static void assumeUsable(PortSettings.Io io) {
        if (io == PortSettings.Io.URING) {
            UringSwitches.turnOff();
            String obstacle = PortSockets.URING.obstacle().orElse("");
            Assumptions.assumeTrue(obstacle.isEmpty(), () -> "io_uring does not work here: " + obstacle);
        }
    }
}
