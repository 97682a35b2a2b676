package org.softrdma.kv.server;

import java.util.Arrays;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.UringNetwork;
import org.softrdma.sim.transport.NettyTransport;

/** For tests that run over each way of doing I/O; they run here without io_uring, and in kv-streams with it. */
final class EachIo {
    /** For {@code @MethodSource}. */
    static final String USABLE = "org.softrdma.kv.server.EachIo#usable";

    private EachIo() {}

    /** The ways that work here. */
    static Stream<PortSettings.Io> usable() {
        return Arrays.stream(PortSettings.Io.values()).filter(io -> io != PortSettings.Io.URING || hasUring());
    }

    /** By what the kernel says, not by trying the port, whose faults the tests are to find. */
    private static boolean hasUring() {
        return ServiceLoader.load(UringNetwork.class).findFirst().isPresent()
                && NettyTransport.uringObstacle().isEmpty();
    }
}
