package org.softrdma.sim.transport;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** readv(2) on Linux, which Netty's sockets have not. Any thread. */
final class ReadVector {
    private static final int EINTR = 4;
    private static final int EAGAIN = 11;
    private static final String ERRNO = "errno";
    private static final VarHandle ERRNO_VALUE = Linker.Option.captureStateLayout()
            .varHandle(MemoryLayout.PathElement.groupElement(ERRNO))
            .withInvokeExactBehavior();
    private static final MethodHandle READV = readv();
    /** Where the calls of a thread leave their errno. */
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    private ReadVector() {}

    @SuppressWarnings("restricted")
    private static MethodHandle readv() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("readv"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT),
                Linker.Option.captureCallState(ERRNO));
    }

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
            throw new IllegalStateException("readv", e);
        }
        if (result > 0) {
            return (int) result;
        }
        if (result == 0) {
            return StreamSocket.END_OF_STREAM;
        }
        int errno = (int) ERRNO_VALUE.get(state, 0L);
        if (errno == EAGAIN || errno == EINTR) {
            return 0;
        }
        throw new IOException("readv failed: errno " + errno);
    }
}
