package org.softrdma.run.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.softrdma.net.kernel.SystemCalls;

/**
 * Every system call through one function of the C library, {@code syscall}: once one call was made, all are linked, and none loads a
 * class. An object of some bytes is made before each: a call for which there is no memory was not made. One thread at a time.
 */
public final class RawCalls {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final MethodHandle SYSCALL = SystemCalls.withErrno(
            "syscall",
            FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG),
            Linker.Option.firstVariadicArg(1));

    private final Architecture architecture;
    private final MemorySegment state;

    /**
     * Calls of one thread.
     *
     * @param arena for the place where errno is left
     */
    public RawCalls(Architecture architecture, Arena arena) {
        this.architecture = architecture;
        state = SystemCalls.newState(arena);
    }

    /** Makes a call with three arguments. */
    public long call(LinuxCall call, long first, long second, long third) {
        return call(call, first, second, third, 0, 0, 0);
    }

    /**
     * Makes a call.
     *
     * @return its result, or the negative errno
     */
    public long call(LinuxCall call, long first, long second, long third, long fourth, long fifth, long sixth) {
        try {
            long result = (long) SYSCALL.invokeExact(
                    state, (long) architecture.number(call), first, second, third, fourth, fifth, sixth);
            return result == -1 ? -SystemCalls.errno(state) : result;
        } catch (Throwable e) {
            throw SystemCalls.failed(call.name(), e);
        }
    }
}
