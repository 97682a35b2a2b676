package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A completion, {@code struct ib_uverbs_wc}, in the machine's order but for the immediate. We write it.
 *
 * <pre>
 *     0  number of the request, wr_id         8 bytes
 *     8  status, as verbs number it           4
 *    12  operation                            4
 *    16  more about a failure                 4
 *    20  bytes                                4
 *    24  immediate, in network order, or
 *        the key that was invalidated         4
 *    28  number of the queue pair             4
 *    32  of the sender's                      4
 *    36  flags: routing header, immediate,
 *        invalidated key (1, 2, 8)            4
 *    40  partition key, LID, service level,
 *        path bits: nothing                   6
 *    46  port                                 1
 * </pre>
 */
public final class CompletionElement {
    /** Bytes of it. */
    public static final int LENGTH = 48;

    /** A RECV that a SEND has filled. */
    public static final int RECEIVE = 128;

    /** A RECV that an immediate of a WRITE has taken. */
    public static final int RECEIVE_WRITE_IMMEDIATE = 129;

    /** It has a routing header. */
    public static final int WITH_ROUTING_HEADER = 1;

    /** It has an immediate. */
    public static final int WITH_IMMEDIATE = 2;

    /** It has the key that was invalidated. */
    public static final int WITH_INVALIDATED = 8;

    private static final int STATUS_OFFSET = 8;
    private static final int OPERATION_OFFSET = 12;
    private static final int FAILURE_OFFSET = 16;
    private static final int BYTES_OFFSET = 20;
    private static final int IMMEDIATE_OFFSET = 24;
    private static final int PAIR_OFFSET = 28;
    private static final int SENDER_OFFSET = 32;
    private static final int FLAGS_OFFSET = 36;
    private static final int PORT_OFFSET = 46;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfInt INT_BE = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private CompletionElement() {}

    /** Writes one without more than that. */
    public static void write(
            MemorySegment ring, long at, long number, int status, int operation, int vendorCode, int bytes, int pair) {
        ring.set(ValueLayout.JAVA_LONG, at, number);
        ring.set(INT, at + STATUS_OFFSET, status);
        ring.set(INT, at + OPERATION_OFFSET, operation);
        ring.set(INT, at + FAILURE_OFFSET, vendorCode);
        ring.set(INT, at + BYTES_OFFSET, bytes);
        ring.set(INT, at + IMMEDIATE_OFFSET, 0);
        ring.set(INT, at + PAIR_OFFSET, pair);
        ring.set(INT, at + SENDER_OFFSET, 0);
        ring.set(INT, at + FLAGS_OFFSET, 0);
        ring.set(INT, at + FLAGS_OFFSET + Integer.BYTES, 0);
        ring.set(INT, at + FLAGS_OFFSET + 2L * Integer.BYTES, 0);
        ring.set(ValueLayout.JAVA_BYTE, at + PORT_OFFSET, (byte) 1);
    }

    /** Adds an immediate. */
    public static void addImmediate(MemorySegment ring, long at, int immediate) {
        ring.set(INT_BE, at + IMMEDIATE_OFFSET, immediate);
        add(ring, at, WITH_IMMEDIATE);
    }

    /** Adds the key that was invalidated. */
    public static void addInvalidated(MemorySegment ring, long at, int key) {
        ring.set(INT, at + IMMEDIATE_OFFSET, key);
        add(ring, at, WITH_INVALIDATED);
    }

    /** Adds the sender of a datagram. */
    public static void addSender(MemorySegment ring, long at, int sender, boolean routingHeader) {
        ring.set(INT, at + SENDER_OFFSET, sender);
        add(ring, at, routingHeader ? WITH_ROUTING_HEADER : 0);
    }

    private static void add(MemorySegment ring, long at, int flag) {
        ring.set(INT, at + FLAGS_OFFSET, ring.get(INT, at + FLAGS_OFFSET) | flag);
    }
}
