package org.softrdma.net.uring;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.SystemCalls;

/**
 * The system calls of one ring. The C library has no functions for io_uring, so they go through {@code syscall}; their
 * numbers are the same on x86-64 and aarch64. Linux only: elsewhere this class cannot be loaded. One thread at a time.
 */
class RingCalls {
    static final int EAGAIN = 11;
    static final int EBUSY = 16;
    static final int ETIME = 62;
    static final int ENOBUFS = 105;
    static final int ECANCELED = 125;
    /** Completions were lost, because the kernel had no memory to keep them. */
    static final int EBADR = 53;

    private static final long IO_URING_SETUP = 425;
    private static final long IO_URING_ENTER = 426;
    private static final long IO_URING_REGISTER = 427;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private static final MethodHandle SYSCALL = SystemCalls.withErrno(
            "syscall",
            FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG),
            Linker.Option.firstVariadicArg(1));
    private static final MethodHandle MMAP =
            SystemCalls.withErrno("mmap", FunctionDescriptor.of(LONG, LONG, LONG, INT, INT, INT, LONG));
    private static final MethodHandle MUNMAP = SystemCalls.withErrno("munmap", FunctionDescriptor.of(INT, LONG, LONG));

    private static final int PROT_READ_WRITE = 3;
    /** MAP_SHARED and MAP_POPULATE. */
    private static final int MAP_FLAGS = 0x8001;

    private static final long MAP_FAILED = -1;

    /** Where the calls leave their errno. */
    private final MemorySegment state;

    RingCalls(Arena arena) {
        state = SystemCalls.newState(arena);
    }

    /** The errno of the last call that failed. */
    int errno() {
        return SystemCalls.errno(state);
    }

    /** io_uring_setup(2): the descriptor. */
    int setup(int entries, long parameters) throws SystemCallException {
        return (int) required("io_uring_setup", call(IO_URING_SETUP, entries, parameters, 0, 0, 0, 0));
    }

    /** io_uring_enter(2): the number of entries submitted, or -1 and an errno. */
    int enter(int ring, int submit, int complete, int flags, long argument, long argumentBytes) {
        return (int) call(IO_URING_ENTER, ring, submit, complete, flags, argument, argumentBytes);
    }

    /** io_uring_register(2). */
    void register(int ring, int operation, long argument, int count) throws SystemCallException {
        long ignored = required(
                "io_uring_register(" + operation + ")",
                call(IO_URING_REGISTER, ring, operation, argument, count, 0, 0));
    }

    private long call(long number, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) SYSCALL.invokeExact(state, number, a, b, c, d, e, f);
        } catch (Throwable failure) {
            throw SystemCalls.failed("syscall", failure);
        }
    }

    /** Maps a part of the ring's memory. */
    long map(int ring, long length, long offset) throws SystemCallException {
        long address;
        try {
            address = (long) MMAP.invokeExact(state, 0L, length, PROT_READ_WRITE, MAP_FLAGS, ring, offset);
        } catch (Throwable failure) {
            throw SystemCalls.failed("mmap", failure);
        }
        if (address == MAP_FAILED) {
            throw new SystemCallException("mmap of a ring", errno());
        }
        return address;
    }

    /** Undoes {@link #map}. */
    void unmap(long address, long length) {
        try {
            int ignored = (int) MUNMAP.invokeExact(state, address, length);
        } catch (Throwable failure) {
            throw SystemCalls.failed("munmap", failure);
        }
    }

    /** Closes a descriptor. */
    void close(int descriptor) {
        Descriptor.close(descriptor);
    }

    private long required(String what, long result) throws SystemCallException {
        if (result < 0) {
            throw new SystemCallException(what, errno());
        }
        return result;
    }
}
