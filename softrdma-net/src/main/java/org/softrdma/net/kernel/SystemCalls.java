package org.softrdma.net.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.stream.Stream;

/** Functions of the C library as method handles, and the errno they leave. Any thread. */
public final class SystemCalls {
    /** A signal came while the call waited, or io_uring had something for this thread to do. */
    public static final int EINTR = 4;

    private static final String ERRNO = "errno";
    private static final StructLayout STATE_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO_VALUE =
            STATE_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement(ERRNO)).withInvokeExactBehavior();
    private static final Linker LINKER = Linker.nativeLinker();

    private SystemCalls() {}

    /**
     * A function whose errno is not needed.
     *
     * @throws java.util.NoSuchElementException if the C library has no such function
     */
    @SuppressWarnings("restricted")
    public static MethodHandle function(String name, FunctionDescriptor signature, Linker.Option... options) {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), signature, options);
    }

    /**
     * A function that takes the place for errno, a {@link #newState}, before its own arguments.
     *
     * @throws java.util.NoSuchElementException if the C library has no such function
     */
    public static MethodHandle withErrno(String name, FunctionDescriptor signature, Linker.Option... options) {
        return function(
                name,
                signature,
                Stream.concat(Stream.of(Linker.Option.captureCallState(ERRNO)), Stream.of(options))
                        .toArray(Linker.Option[]::new));
    }

    /**
     * What to throw when a call has thrown something. An Error comes out as it is: it is no fault of the call that there was
     * no memory for it, and callers go on after an Error.
     */
    public static IllegalStateException failed(String call, Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(call + " failed", cause);
    }

    /** A place for errno. One thread at a time may use it. */
    public static MemorySegment newState(Arena arena) {
        return arena.allocate(STATE_LAYOUT);
    }

    /** The errno of the last call that used this place. */
    public static int errno(MemorySegment state) {
        return (int) ERRNO_VALUE.get(state, 0L);
    }
}
