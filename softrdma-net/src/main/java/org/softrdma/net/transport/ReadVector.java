package org.softrdma.net.transport;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.softrdma.net.kernel.SystemCalls;

/** readv(2) on Linux, which Netty's sockets lack. Any thread. */
final class ReadVector {
    private static final int EAGAIN = 11;
    private static final MethodHandle READV = SystemCalls.withErrno(
            "readv",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    /** Where the calls of a thread leave their errno. */
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> SystemCalls.newState(Arena.ofAuto()));

    private ReadVector() {}

    /**
     * Receives.
     *
     * @param descriptor a non-blocking stream socket
     * @param vectors address of a {@code struct iovec[]}
     * @param count its entries
     * @return bytes received, 0 if nothing is there, or {@link StreamSocket#END_OF_STREAM}
     * @throws IOException if the connection broke
     */
    static int call(int descriptor, long vectors, int count) throws IOException {
        MemorySegment state = STATE.get();
        long result;
        try {
            result = (long) READV.invokeExact(state, descriptor, vectors, count);
        } catch (Throwable e) {
            throw SystemCalls.failed("readv", e);
        }
        if (result > 0) {
            return (int) result;
        }
        if (result == 0) {
            return StreamSocket.END_OF_STREAM;
        }
        int errno = SystemCalls.errno(state);
        if (errno == EAGAIN || errno == SystemCalls.EINTR) {
            return 0;
        }
        throw HostSilentException.ofErrno(errno, new IOException("readv failed: errno " + errno));
    }
}
