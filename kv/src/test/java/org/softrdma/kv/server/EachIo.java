package org.softrdma.kv.server;

import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.softrdma.kv.server.host.PortSettings;

/** For tests that run over each way of doing I/O; they run here without io_uring, and in kv-streams with it. */
final class EachIo {
    /** For {@code @MethodSource}. */
    static final String USABLE = "org.softrdma.kv.server.EachIo#usable";

    private EachIo() {}

    /** The ways that work here. */
    static Stream<PortSettings.Io> usable() {
        return Arrays.stream(PortSettings.Io.values()).filter(io -> io != PortSettings.Io.URING || hasUring());
    }

    private static boolean hasUring() {
        try (RunningServer _ = new RunningServer(context -> context.io(PortSettings.Io.URING))) {
            return true;
        } catch (UncheckedIOException e) {
            return false;
        }
    }
}
