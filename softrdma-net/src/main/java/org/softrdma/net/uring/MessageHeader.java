package org.softrdma.net.uring;

import org.softrdma.net.memory.NativeMemory;

/**
 * A {@code struct msghdr} that names pieces of memory and nothing else (sendmsg(2), 64-bit Linux), in the machine's
 * order. This process writes it; the kernel reads it when it is submitted.
 *
 * <pre>
 *   name, 8 | length of the name, 4, and padding         0
 *   pieces, 8 | number of pieces, 8                     16
 *   control, 8 | length, 8 | flags, 4, and padding      32
 * </pre>
 *
 * One thread.
 */
final class MessageHeader {
    static final int BYTES = 7 * Long.BYTES;

    private static final int PIECES_OFFSET = 2 * Long.BYTES;
    private static final int COUNT_OFFSET = PIECES_OFFSET + Long.BYTES;

    private MessageHeader() {}

    /** Sets the pieces; everything else is zero and stays so. */
    static void set(long at, long pieces, int count) {
        NativeMemory.putNativeLong(at + PIECES_OFFSET, pieces);
        NativeMemory.putNativeLong(at + COUNT_OFFSET, count);
    }
}
