package org.softrdma.bench.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What rping sends: {@code rdma-ping-7: } and then the characters from {@code A} to {@code z} over and over, beginning one
 * further with each ping, up to a closing NUL. Not thread-safe.
 */
final class PingText {
    private static final int FIRST = 'A';
    private static final int CHARACTERS = 'z' - 'A' + 1;

    private final byte[] expected;

    /**
     * Texts of one size.
     *
     * @param size bytes, with the NUL; at least {@link RpingOptions#MIN_SIZE}
     */
    PingText(int size) {
        expected = new byte[size];
    }

    /**
     * Writes the text of a ping.
     *
     * @param buffer of this size
     * @param ping its number, from 0
     */
    void write(MemorySegment buffer, int ping) {
        make(expected.length, ping);
        MemorySegment.copy(expected, 0, buffer, ValueLayout.JAVA_BYTE, 0, expected.length);
    }

    /**
     * Compares a buffer with the text of a ping.
     *
     * @param buffer of this size at most
     * @param ping its number, from 0
     * @return the index of the first byte that differs, -1 if none does
     */
    long mismatch(MemorySegment buffer, int ping) {
        int length = (int) buffer.byteSize();
        make(length, ping);
        return buffer.mismatch(MemorySegment.ofArray(expected).asSlice(0, length));
    }

    /**
     * The length of the text in a buffer, with its NUL; the whole buffer if it has none.
     *
     * @param buffer what a peer sent
     */
    static long length(MemorySegment buffer) {
        for (long i = 0; i < buffer.byteSize(); i++) {
            if (buffer.get(ValueLayout.JAVA_BYTE, i) == 0) {
                return i + 1;
            }
        }
        return buffer.byteSize();
    }

    /**
     * The text in a buffer up to its NUL.
     *
     * @param buffer what a peer sent
     */
    static String text(MemorySegment buffer) {
        byte[] bytes = buffer.asSlice(0, length(buffer)).toArray(ValueLayout.JAVA_BYTE);
        int length = bytes.length > 0 && bytes[bytes.length - 1] == 0 ? bytes.length - 1 : bytes.length;
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    private void make(int length, int ping) {
        byte[] heading = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
        int headed = Math.min(heading.length, length);
        System.arraycopy(heading, 0, expected, 0, headed);
        int next = Math.floorMod(ping, CHARACTERS);
        for (int i = headed; i < length; i++) {
            expected[i] = (byte) (FIRST + next);
            next = (next + 1) % CHARACTERS;
        }
        Arrays.fill(expected, Math.max(0, length - 1), length, (byte) 0);
    }
}
