package org.softrdma.net.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * A mutex in shared memory that the kernel marks when the thread that holds it ends, however it ends: by SIGKILL, too
 * (pthread_mutexattr_setrobust(3), get_robust_list(2)). It is taken once, and nobody waits for it: others look at its
 * word.
 *
 * <p>Linux only: elsewhere this class cannot be loaded.
 */
public final class RobustMutex {
    /** Bytes of a mutex: 40 on x86-64, 48 on aarch64. */
    public static final int BYTES = 64;

    /** The bit of the word that says that its thread has ended (FUTEX_OWNER_DIED); above all numbers of threads. */
    public static final int OWNER_DIED = 1 << 30;

    private static final int ATTRIBUTE_BYTES = 64;
    private static final int PTHREAD_PROCESS_SHARED = 1;
    private static final int PTHREAD_MUTEX_ROBUST = 1;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private static final FunctionDescriptor OF_ADDRESS = FunctionDescriptor.of(INT, ValueLayout.ADDRESS);
    private static final FunctionDescriptor OF_ADDRESS_INT = FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT);
    private static final FunctionDescriptor OF_TWO =
            FunctionDescriptor.of(INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
    private static final MethodHandle ATTRIBUTES = SystemCalls.function("pthread_mutexattr_init", OF_ADDRESS);
    private static final MethodHandle SHARED = SystemCalls.function("pthread_mutexattr_setpshared", OF_ADDRESS_INT);
    private static final MethodHandle ROBUST = SystemCalls.function("pthread_mutexattr_setrobust", OF_ADDRESS_INT);
    private static final MethodHandle INIT = SystemCalls.function("pthread_mutex_init", OF_TWO);
    private static final MethodHandle LOCK = SystemCalls.function("pthread_mutex_lock", OF_ADDRESS);
    private static final MethodHandle UNLOCK = SystemCalls.function("pthread_mutex_unlock", OF_ADDRESS);
    private static final MethodHandle THREAD = SystemCalls.function("gettid", FunctionDescriptor.of(INT));

    private RobustMutex() {}

    /**
     * Makes a mutex and takes it for the calling thread.
     *
     * @param mutex {@link #BYTES} in shared memory, zero
     * @return bytes from there to its word: the number of the thread, until that ends or {@link #release}s it
     * @throws IOException if the C library has no such mutex
     */
    public static int take(MemorySegment mutex) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ATTRIBUTE_BYTES, Long.BYTES);
            required("pthread_mutexattr_init", (int) ATTRIBUTES.invokeExact(attributes));
            required("pthread_mutexattr_setpshared", (int) SHARED.invokeExact(attributes, PTHREAD_PROCESS_SHARED));
            required("pthread_mutexattr_setrobust", (int) ROBUST.invokeExact(attributes, PTHREAD_MUTEX_ROBUST));
            required("pthread_mutex_init", (int) INIT.invokeExact(mutex, attributes));
            required("pthread_mutex_lock", (int) LOCK.invokeExact(mutex));
            return word(mutex, (int) THREAD.invokeExact());
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw SystemCalls.failed("pthread_mutex", e);
        }
    }

    /** C libraries differ in where a mutex has the number of its thread. */
    private static int word(MemorySegment mutex, int thread) throws IOException {
        for (int offset = 0; offset < BYTES; offset += Integer.BYTES) {
            if (mutex.get(INT, offset) == thread) {
                return offset;
            }
        }
        throw new IOException("a mutex that does not have the number of its thread");
    }

    /** Gives it back. By the thread that has taken it. */
    public static void release(MemorySegment mutex) {
        try {
            required("pthread_mutex_unlock", (int) UNLOCK.invokeExact(mutex));
        } catch (Throwable e) {
            throw SystemCalls.failed("pthread_mutex_unlock", e);
        }
    }

    private static void required(String what, int result) throws IOException {
        if (result != 0) {
            throw new IOException(what + ": error " + result);
        }
    }
}
