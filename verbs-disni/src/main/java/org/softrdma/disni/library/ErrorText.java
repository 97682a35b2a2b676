package org.softrdma.disni.library;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds error numbers by their texts: DiSNI drops {@code errno} and keeps {@code strerror}, which depends on the user's
 * locale. So the C library is asked for the text of each number. Immutable.
 */
public final class ErrorText {
    private static final int LAST_ERRNO = 133;
    private static final int LONGEST_TEXT = 1024;
    private static final Map<String, Integer> NUMBERS = numbers();

    private ErrorText() {}

    @SuppressWarnings("restricted")
    private static Map<String, Integer> numbers() {
        Linker linker = Linker.nativeLinker();
        MethodHandle strerror = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("strerror"),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        Map<String, Integer> numbers = new HashMap<>();
        for (int errno = 1; errno <= LAST_ERRNO; errno++) {
            numbers.putIfAbsent(text(strerror, errno), errno);
            // libsiw returns negative numbers, which strerror calls unknown, with the number.
            numbers.putIfAbsent(text(strerror, -errno), errno);
        }
        return Map.copyOf(numbers);
    }

    @SuppressWarnings("restricted")
    private static String text(MethodHandle strerror, int errno) {
        try {
            MemorySegment text = (MemorySegment) strerror.invokeExact(errno);
            return text.reinterpret(LONGEST_TEXT).getString(0);
        } catch (Throwable e) {
            throw new IllegalStateException("strerror(" + errno + ")", e);
        }
    }

    /**
     * The error that a message of DiSNI ends with.
     *
     * @param message for example {@code j2c::listen: rdma_listen failed: Address already in use}
     * @return its number, or 0 if there is none
     */
    public static int errnoOf(String message) {
        String text = message.strip();
        return NUMBERS.getOrDefault(text.substring(text.lastIndexOf(": ") + 1).strip(), 0);
    }
}
