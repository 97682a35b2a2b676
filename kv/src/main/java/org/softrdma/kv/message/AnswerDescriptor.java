package org.softrdma.kv.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.kv.item.Locator;

/**
 * What the server SENDs on the queue pair: the answer to a hello, to each touch report, and to each rget, behind the
 * item that it wrote. Little endian, 8-byte aligned. The server writes all of it. An rget lets the server send one
 * answer, so it is the client's credit: it has a RECV posted for each rget that is not answered, and one for a hello
 * or touch report.
 *
 * <pre>
 *  31                                                              0
 * +-----------------------------------------------------------------+
 * |  opaque number of the rget; 0 of a hello or touch report         |   0
 * |                                                                  |   4
 * +-----------------------------------------------------------------+
 * |  locator of the item, or zero                                    |   8
 * |                                                                  |  20
 * +-----------------------------------------------------------------+
 * |  status: 0 found, 1 not found, 2 buffer too small, 3 bound,      |  24
 * |          4 touched                                               |
 * +-----------------------------------------------------------------+
 * |  bytes of the item, also if the buffer was too small             |  28
 * +-----------------------------------------------------------------+
 * |  the server's clock, seconds since 1970                          |  32
 * +-----------------------------------------------------------------+
 * |  of a hello or touch report: seconds for which an item that was  |  36
 * |  named twice needs not be named again; else zero                 |
 * +-----------------------------------------------------------------+
 * </pre>
 */
public final class AnswerDescriptor {
    /** The item is in the buffer. */
    public static final int FOUND = 0;

    /** There is no such item. */
    public static final int NOT_FOUND = 1;

    /** The item is longer than the buffer; nothing was written. */
    public static final int BUFFER_TOO_SMALL = 2;

    /** The token was right: the queue pair belongs to the memcached connection. */
    public static final int BOUND = 3;

    /** The touch report was taken; the next one may come. */
    public static final int TOUCHED = 4;

    private static final int OPAQUE_OFFSET = 0;
    private static final int LOCATOR_OFFSET = OPAQUE_OFFSET + Long.BYTES;
    private static final int STATUS_OFFSET = LOCATOR_OFFSET + Locator.LENGTH;
    private static final int ITEM_LENGTH_OFFSET = STATUS_OFFSET + Integer.BYTES;
    private static final int CLOCK_OFFSET = ITEM_LENGTH_OFFSET + Integer.BYTES;
    private static final int TOUCH_INTERVAL_OFFSET = CLOCK_OFFSET + Integer.BYTES;

    /** Bytes of the message. */
    public static final int LENGTH = TOUCH_INTERVAL_OFFSET + Integer.BYTES;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private AnswerDescriptor() {}

    /**
     * Writes NOT_FOUND.
     *
     * @param memory takes it
     * @param offset where it goes
     * @param opaque of the rget
     * @param nowSeconds the server's clock
     */
    public static void writeNotFound(MemorySegment memory, long offset, long opaque, long nowSeconds) {
        write(memory, offset, NOT_FOUND, opaque, nowSeconds, 0, 0, 0, 0);
    }

    /**
     * Writes the answer to a hello or touch report.
     *
     * @param memory takes it
     * @param offset where it goes
     * @param status BOUND or TOUCHED
     * @param nowSeconds the server's clock
     * @param touchIntervalSeconds how long an item that was named twice need not be named again
     */
    public static void writeControl(
            MemorySegment memory, long offset, int status, long nowSeconds, int touchIntervalSeconds) {
        write(memory, offset, status, 0, nowSeconds, 0, 0, 0, touchIntervalSeconds);
    }

    /**
     * Writes an answer about an item.
     *
     * @param memory takes it
     * @param offset where it goes
     * @param status FOUND or BUFFER_TOO_SMALL
     * @param opaque of the rget
     * @param nowSeconds the server's clock
     * @param locator what a READ of the item needs
     * @param itemLength bytes of the item; a READ may take more
     */
    public static void write(
            MemorySegment memory,
            long offset,
            int status,
            long opaque,
            long nowSeconds,
            Locator locator,
            int itemLength) {
        write(memory, offset, status, opaque, nowSeconds, locator.first(), locator.second(), itemLength, 0);
    }

    private static void write(
            MemorySegment memory,
            long offset,
            int status,
            long opaque,
            long nowSeconds,
            long first,
            long second,
            int itemLength,
            int touchIntervalSeconds) {
        memory.set(LONG, offset + OPAQUE_OFFSET, opaque);
        memory.set(LONG, offset + LOCATOR_OFFSET, first);
        memory.set(LONG, offset + LOCATOR_OFFSET + Long.BYTES, second);
        memory.set(INT, offset + STATUS_OFFSET, status);
        memory.set(INT, offset + ITEM_LENGTH_OFFSET, itemLength);
        memory.set(INT, offset + CLOCK_OFFSET, (int) nowSeconds);
        memory.set(INT, offset + TOUCH_INTERVAL_OFFSET, touchIntervalSeconds);
    }

    /**
     * True if this can be an answer.
     *
     * @param available bytes received
     */
    public static boolean isValid(long available) {
        return available == LENGTH;
    }

    /**
     * The opaque number of the rget.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static long opaque(MemorySegment memory, long offset) {
        return memory.get(LONG, offset + OPAQUE_OFFSET);
    }

    /**
     * The status; a client must expect values it does not know.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static int status(MemorySegment memory, long offset) {
        return memory.get(INT, offset + STATUS_OFFSET);
    }

    /**
     * First half of the locator.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static long locatorFirst(MemorySegment memory, long offset) {
        return memory.get(LONG, offset + LOCATOR_OFFSET);
    }

    /**
     * Second half of the locator.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static long locatorSecond(MemorySegment memory, long offset) {
        return memory.get(LONG, offset + LOCATOR_OFFSET + Long.BYTES);
    }

    /**
     * Seconds for which an item that was named twice in touch reports need not be named again; anything, from a bad
     * server.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static int touchIntervalSeconds(MemorySegment memory, long offset) {
        return memory.get(INT, offset + TOUCH_INTERVAL_OFFSET);
    }

    /**
     * Bytes of the item.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static long itemLength(MemorySegment memory, long offset) {
        return Integer.toUnsignedLong(memory.get(INT, offset + ITEM_LENGTH_OFFSET));
    }

    /**
     * The server's clock, seconds since 1970.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static long clockSeconds(MemorySegment memory, long offset) {
        return Integer.toUnsignedLong(memory.get(INT, offset + CLOCK_OFFSET));
    }
}
