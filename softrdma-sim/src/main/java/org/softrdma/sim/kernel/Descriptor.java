package org.softrdma.sim.kernel;

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

    private Descriptor() {}

    /** A program that this process starts does not get it: it would keep a connection open, or a port. */
    public static void closeOnExec(int descriptor) {
        try {
            int ignored = (int) FCNTL.invokeExact(descriptor, F_SETFD, FD_CLOEXEC);
        } catch (Throwable e) {
            throw new IllegalStateException("fcntl", e);
        }
    }
}
