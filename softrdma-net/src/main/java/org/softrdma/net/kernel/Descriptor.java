package org.softrdma.net.kernel;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** What can be said of any descriptor. Linux only: elsewhere this class cannot be loaded. Any thread. */
public final class Descriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;
    private static final MethodHandle FCNTL =
            SystemCalls.function("fcntl", FunctionDescriptor.of(INT, INT, INT, INT), Linker.Option.firstVariadicArg(2));

    private static final MethodHandle CLOSE = SystemCalls.function("close", FunctionDescriptor.of(INT, INT));

    /**
     * A method handle needs memory for its first call, which links it, and for its 127th, which makes code of its own for it: what was
     * to be closed then would stay open.
     */
    private static final int FIRST_CALLS = 200;

    private static final int NONE = -1;

    static {
        for (int i = 0; i < FIRST_CALLS; i++) {
            close(NONE);
        }
    }

    private Descriptor() {}

    /** Closes it, by a call that needs no memory. Whether the kernel found fault with it is not told. */
    public static void close(int descriptor) {
        try {
            int ignored = (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable e) {
            throw SystemCalls.failed("close", e);
        }
    }

    /** A program that this process starts does not get it: it would keep a connection open, or a port. */
    public static void closeOnExec(int descriptor) {
        try {
            int ignored = (int) FCNTL.invokeExact(descriptor, F_SETFD, FD_CLOEXEC);
        } catch (Throwable e) {
            throw SystemCalls.failed("fcntl", e);
        }
    }
}
