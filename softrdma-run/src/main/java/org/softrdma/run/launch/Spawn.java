package org.softrdma.run.launch;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.softrdma.net.kernel.SystemCalls;
import org.softrdma.net.memory.NativeMemory;

/**
 * posix_spawnp(3) of a command, with this process's environment, directory and descriptors. Everything that it needs is made before the
 * call. Signals are unblocked for the program: Java threads block some.
 */
final class Spawn {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final int SET_SIGNAL_MASK = 0x08;
    /** More than {@code posix_spawnattr_t} and {@code sigset_t} have in any C library. */
    private static final int ATTRIBUTES_LENGTH = 512;

    private static final int SIGNALS_LENGTH = 128;

    private final MethodHandle function;
    private final MemorySegment attributes;
    private final MemorySegment arguments;
    private final MemorySegment environment;
    private final MemorySegment process;
    private final MemorySegment nothing;

    Spawn(List<String> command, Arena arena) {
        function = SystemCalls.function(
                "posix_spawnp",
                FunctionDescriptor.of(
                        INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS));
        attributes = attributes(arena);
        arguments = arena.allocate(ValueLayout.ADDRESS, command.size() + 1L);
        for (int i = 0; i < command.size(); i++) {
            arguments.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(command.get(i)));
        }
        long variable =
                Linker.nativeLinker().defaultLookup().findOrThrow("environ").address();
        environment =
                NativeMemory.segment(variable, ValueLayout.ADDRESS.byteSize()).get(ValueLayout.ADDRESS, 0);
        process = arena.allocate(INT);
        nothing = arena.allocateFrom("");
    }

    private static MemorySegment attributes(Arena arena) {
        MemorySegment made = arena.allocate(ATTRIBUTES_LENGTH, Long.BYTES);
        FunctionDescriptor withPointer = FunctionDescriptor.of(INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
        try {
            int ignored =
                    (int) SystemCalls.function("posix_spawnattr_init", FunctionDescriptor.of(INT, ValueLayout.ADDRESS))
                            .invokeExact(made);
            ignored = (int) SystemCalls.function("posix_spawnattr_setsigmask", withPointer)
                    .invokeExact(made, arena.allocate(SIGNALS_LENGTH, Long.BYTES));
            ignored = (int) SystemCalls.function(
                            "posix_spawnattr_setflags",
                            FunctionDescriptor.of(INT, ValueLayout.ADDRESS, ValueLayout.JAVA_SHORT))
                    .invokeExact(made, (short) SET_SIGNAL_MASK);
            return made;
        } catch (Throwable e) {
            throw SystemCalls.failed("posix_spawnattr", e);
        }
    }

    /** Links the call by a program that is not there. */
    void link() {
        int ignored = call(nothing);
    }

    /**
     * Starts the program.
     *
     * @return 0, or the errno
     */
    int start() {
        return call(arguments.get(ValueLayout.ADDRESS, 0));
    }

    private int call(MemorySegment file) {
        try {
            return (int) function.invokeExact(process, file, MemorySegment.NULL, attributes, arguments, environment);
        } catch (Throwable e) {
            throw SystemCalls.failed("posix_spawnp", e);
        }
    }

    /** The process that was started. */
    int process() {
        return process.get(INT, 0);
    }
}
