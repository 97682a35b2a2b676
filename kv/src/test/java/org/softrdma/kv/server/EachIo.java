package org.softrdma.kv.server;

import java.util.Arrays;
import java.util.stream.Stream;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.net.transport.NettyTransport;

/** For tests that run over each way of doing I/O. */
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
        return NettyTransport.uringObstacle().isEmpty();
    }
}
