package org.softrdma.net.uring;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.SystemCalls;

/**
 * How other threads wake a loop that waits in the kernel: an eventfd, written by whoever finds the loop asleep. Its count
 * is read only at the end: a poll of the ring sees each write, and the count then says whether all writers are done, so
 * that none writes to a descriptor whose number belongs to somebody else by then.
 *
 * <p>Thread: the loop's, except {@link #wake}.
 */
final class WakeUp {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle EVENTFD = SystemCalls.withErrno("eventfd", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle WRITE =
            SystemCalls.function("write", FunctionDescriptor.of(LONG, INT, LONG, LONG));
    private static final MethodHandle READ = SystemCalls.function("read", FunctionDescriptor.of(LONG, INT, LONG, LONG));
    /** EFD_NONBLOCK and EFD_CLOEXEC. */
    private static final int EVENTFD_FLAGS = 0x80800;

    private static final long LAST_WRITER_NS = TimeUnit.SECONDS.toNanos(10);

    private final AtomicBoolean asleep = new AtomicBoolean();
    private final MemorySegment one;
    private final MemorySegment count;
    private final int descriptor;
    /** How often another thread has ended a sleep. */
    private long woken;

    WakeUp(Arena arena) throws IOException {
        one = arena.allocate(LONG);
        one.set(LONG, 0, 1);
        count = arena.allocate(LONG);
        MemorySegment state = SystemCalls.newState(arena);
        try {
            descriptor = (int) EVENTFD.invokeExact(state, 0, EVENTFD_FLAGS);
        } catch (Throwable e) {
            throw SystemCalls.failed("eventfd", e);
        }
        if (descriptor < 0) {
            throw new SystemCallException("eventfd", SystemCalls.errno(state));
        }
    }

    int descriptor() {
        return descriptor;
    }

    /** From now on others write. The caller looks once more for work before it waits. */
    void fallAsleep() {
        asleep.set(true);
    }

    /** The loop is awake, whoever woke it. */
    void awake() {
        if (!asleep.compareAndSet(true, false)) {
            woken++;
        }
    }

    /** Wakes the loop if it sleeps. Any thread. */
    void wake() {
        if (asleep.compareAndSet(true, false)) {
            boolean written = false;
            while (!written) { // nobody else wakes it any more
                try {
                    write();
                    written = true;
                } catch (OutOfMemoryError e) {
                    Thread.yield();
                }
            }
        }
    }

    private void write() {
        try {
            long ignored = (long) WRITE.invokeExact(descriptor, one.address(), LONG.byteSize());
        } catch (Throwable e) {
            throw SystemCalls.failed("write", e);
        }
    }

    /**
     * Returns when all threads that woke the loop have written: the descriptor may be closed then.
     *
     * @return false if one takes too long; the descriptor must stay open then
     */
    boolean awaitWriters() {
        long startNs = System.nanoTime();
        long written = 0;
        while (true) {
            written += read();
            if (written >= woken) {
                return true;
            }
            if (System.nanoTime() - startNs > LAST_WRITER_NS) {
                return false;
            }
            Thread.yield();
        }
    }

    private long read() {
        try {
            long bytes = (long) READ.invokeExact(descriptor, count.address(), LONG.byteSize());
            return bytes == LONG.byteSize() ? count.get(LONG, 0) : 0;
        } catch (Throwable e) {
            throw SystemCalls.failed("read", e);
        }
    }
}
