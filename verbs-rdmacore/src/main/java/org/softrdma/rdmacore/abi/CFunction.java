package org.softrdma.rdmacore.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import org.softrdma.ibverbs.Errno;

/**
 * A C function of the control path, called with longs, whose result is converted to one convention. Each call
 * allocates; the data path has handles of its own ({@link NativeOperations}). Thread-safe.
 */
final class CFunction {
    /** An {@code int} or an enumeration. */
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    /** A pointer, {@code size_t} or {@code uint64_t}. */
    static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    /** A {@code uint8_t}. */
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    /** {@code IBV_REREG_MR_ERR_INPUT}. */
    private static final int REREGISTER_INPUT = -1;
    /** {@code IBV_REREG_MR_ERR_DONT_FORK_NEW}. */
    private static final int REREGISTER_FORK = -2;
    /** {@code IBV_REREG_MR_ERR_DO_FORK_OLD}: it has worked, but a child process will not have the old memory. */
    private static final int REREGISTERED_STILL_FORKED = -3;

    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final String ERRNO = "errno";
    private static final VarHandle ERRNO_VALUE = STATE.varHandle(MemoryLayout.PathElement.groupElement(ERRNO));

    /** How a function reports failure. */
    enum Failure {
        /** It returns NULL and sets errno; here: the negated errno in place of the pointer. */
        NULL_AND_ERRNO,
        /** It returns -1 and sets errno; here: the errno. */
        MINUS_ONE_AND_ERRNO,
        /** Like MINUS_ONE_AND_ERRNO, but success is a number; here: the number or the negated errno. */
        COUNT_OR_ERRNO,
        /** It returns an errno, of either sign; here: the errno. */
        ERRNO_RETURNED,
        /**
         * As {@code ibv_rereg_mr}: -1 and -2 leave the region as it was, -3 is a success, anything lower leaves nothing
         * to be used; errno is set. Here: 0, the errno, or the negated errno for the last.
         */
        REREGISTERED,
        /** It cannot fail, or does not report it; here: what it returns, 0 for void. */
        NONE
    }

    private final String name;
    private final Failure failure;
    private final MethodHandle handle;

    /**
     * Links a function.
     *
     * @param lookup finds it
     * @param name its symbol
     * @param failure how it fails
     * @param result layout of its result, null for void
     * @param parameters layouts of its parameters
     * @throws java.util.NoSuchElementException if there is no such symbol
     */
    CFunction(
            SymbolLookup lookup,
            String name,
            Failure failure,
            @org.jspecify.annotations.Nullable MemoryLayout result,
            MemoryLayout... parameters) {
        this(lookup.findOrThrow(name), name, failure, result, parameters);
    }

    /** Links a function by its address, as the other constructor does by its name. */
    @SuppressWarnings("restricted")
    CFunction(
            MemorySegment function,
            String name,
            Failure failure,
            @org.jspecify.annotations.Nullable MemoryLayout result,
            MemoryLayout... parameters) {
        this.name = name;
        this.failure = failure;
        FunctionDescriptor descriptor =
                result == null ? FunctionDescriptor.ofVoid(parameters) : FunctionDescriptor.of(result, parameters);
        MethodHandle exact =
                Linker.nativeLinker().downcallHandle(function, descriptor, Linker.Option.captureCallState(ERRNO));
        MethodType wide = MethodType.methodType(long.class, MemorySegment.class);
        for (int i = 0; i < parameters.length; i++) {
            wide = wide.appendParameterTypes(long.class);
        }
        handle = MethodHandles.explicitCastArguments(exact, wide).asSpreader(long[].class, parameters.length);
    }

    /** Calls it. */
    long call(long... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = (long) handle.invokeExact(state, arguments);
            int errno = (int) ERRNO_VALUE.get(state, 0L);
            return switch (failure) {
                case NULL_AND_ERRNO -> result == 0 ? -known(errno) : result;
                case MINUS_ONE_AND_ERRNO -> result == -1 ? known(errno) : Math.abs(result);
                case COUNT_OR_ERRNO -> result == -1 ? -known(errno) : result;
                case ERRNO_RETURNED -> Math.abs(result);
                case REREGISTERED -> reregistered((int) result, known(errno));
                case NONE -> result;
            };
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("calling " + name, e);
        }
    }

    private static int reregistered(int result, int errno) {
        return switch (result) {
            case 0, REREGISTERED_STILL_FORKED -> 0;
            case REREGISTER_INPUT, REREGISTER_FORK -> errno;
            default -> -errno;
        };
    }

    /** A nonzero errno: some failures leave errno unset. */
    private static int known(int errno) {
        return errno == 0 ? Errno.EINVAL : errno;
    }
}
