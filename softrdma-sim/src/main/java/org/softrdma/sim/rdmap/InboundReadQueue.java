package org.softrdma.sim.rdmap;

import org.softrdma.sim.queue.RingSize;
import org.softrdma.sim.wire.MessageKind;

/**
 * The peer's READ requests and Atomic Requests, in order of arrival (IRRQ, RFC 5040 section 6.2).
 * Bounded by the IRD granted to the peer. Engine thread only.
 *
 * <p>A request is a row of 64 bytes, and an empty queue starts again at its first row. With a thousand connections the
 * rows of each are cold, so a peer with few requests in flight should cost few cache lines, however many it was
 * granted.
 *
 * <pre>
 *   row of longs:  0 sink STag, source STag | 1 sink offset | 2 source offset | 3 MSN, length
 *                  4 offset in the source's memory | 5 batch that granted it | 6 row of the stag table | 7 kind of its response
 *
 *   of an atomic:  0 request identifier, - | 1 what the word was | 3 MSN, - | 7 kind of its response
 * </pre>
 *
 * <p>A READ waits here to be executed. An atomic has been, when it came: only its answer waits for its turn.
 */
public final class InboundReadQueue {
    private static final int ROW_SHIFT = 3;
    private static final int STAGS = 0;
    private static final int SINK_OFFSET = 1;
    private static final int SOURCE_OFFSET = 2;
    private static final int MSN_AND_LENGTH = 3;
    private static final int MEMORY_OFFSET = 4;
    private static final int GRANT = 5;
    private static final int ROW = 6;
    private static final int KIND = 7;

    private static final int NO_ROW = -1;
    private static final long NO_BATCH = -1;
    private static final MessageKind[] KINDS = MessageKind.values();

    private final int limit;
    private final int mask;
    private final long[] rows;
    private long head;
    private long cursor;
    private long tail;
    private int nextMsn = 1;

    /**
     * An empty queue.
     *
     * @param limit maximum number of the peer's READs and atomics in flight
     */
    public InboundReadQueue(int limit) {
        this.limit = limit;
        int capacity = RingSize.atLeast(limit);
        mask = capacity - 1;
        rows = new long[capacity << ROW_SHIFT];
    }

    /** Message sequence number of the next request: requests of all kinds are counted together. */
    public int nextMsn() {
        return nextMsn;
    }

    /** True if the peer may have one more request in flight. */
    public boolean hasRoom() {
        return tail - head < limit;
    }

    /**
     * Adds a request.
     *
     * @param kind of its response
     * @param msn its message sequence number
     * @param sinkStag STag of the peer's sink
     * @param sinkOffset tagged offset in the peer's sink
     * @param length bytes asked for, at most 2^32 - 1
     * @param sourceStag STag of the source here
     * @param sourceOffset tagged offset in the source
     * @param row row of the stag table that was granted; any if the length is 0
     * @param batch batch in which it was granted
     * @return false if the peer has exceeded its limit
     */
    public boolean add(
            MessageKind kind,
            int msn,
            int sinkStag,
            long sinkOffset,
            long length,
            int sourceStag,
            long sourceOffset,
            int row,
            long batch) {
        if (!hasRoom()) {
            return false;
        }
        if (head == tail) {
            head = 0;
            cursor = 0;
            tail = 0;
        }
        int slot = slot(tail);
        rows[slot + STAGS] = pair(sinkStag, sourceStag);
        rows[slot + SINK_OFFSET] = sinkOffset;
        rows[slot + SOURCE_OFFSET] = sourceOffset;
        rows[slot + MSN_AND_LENGTH] = pair(msn, (int) length);
        rows[slot + GRANT] = batch;
        rows[slot + ROW] = row;
        rows[slot + KIND] = kind.ordinal();
        tail++;
        nextMsn++;
        return true;
    }

    /**
     * Adds an atomic that was executed; there is room.
     *
     * @param msn its message sequence number
     * @param identifier chosen by the peer
     * @param original what the word was
     */
    public void addExecuted(int msn, int identifier, long original) {
        boolean added = add(MessageKind.ATOMIC_RESPONSE, msn, identifier, original, 0, 0, 0, NO_ROW, NO_BATCH);
        if (!added) {
            throw new IllegalStateException("an atomic was executed although the peer has " + limit + " in flight");
        }
    }

    private static long pair(int high, int low) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }

    /** Sequence of the request to be answered next. Sequences stay valid while the queue is not empty. */
    public long cursor() {
        return cursor;
    }

    /** Moves the cursor, forward as responses are put on the wire, back when a short write did not take them. */
    public void cursor(long sequence) {
        cursor = sequence;
    }

    /** True if the response to some request has not been sent completely. */
    public boolean hasUnsent() {
        return cursor < tail;
    }

    /** True if no response is outstanding. */
    public boolean isEmpty() {
        return head == tail;
    }

    /** The response of the oldest request has gone to TCP. */
    public void complete() {
        head++;
    }

    /** Forgets the request at the cursor and those behind it. */
    public void truncate() {
        tail = cursor;
    }

    /** Forgets everything. */
    public void clear() {
        head = tail;
        cursor = tail;
    }

    /** The slot of a sequence, for the methods below. */
    public int slot(long sequence) {
        return ((int) sequence & mask) << ROW_SHIFT;
    }

    /** Kind of the response to the request. */
    public MessageKind kind(int slot) {
        return KINDS[(int) rows[slot + KIND]];
    }

    /** Message sequence number of the request. */
    public int msn(int slot) {
        return (int) (rows[slot + MSN_AND_LENGTH] >>> Integer.SIZE);
    }

    /** STag of the peer's sink. */
    public int sinkStag(int slot) {
        return (int) (rows[slot + STAGS] >>> Integer.SIZE);
    }

    /** Tagged offset in the peer's sink. */
    public long sinkOffset(int slot) {
        return rows[slot + SINK_OFFSET];
    }

    /** The number that the peer has chosen for an atomic. */
    public int identifier(int slot) {
        return sinkStag(slot);
    }

    /** What the word of an atomic was. */
    public long original(int slot) {
        return rows[slot + SINK_OFFSET];
    }

    /** Bytes asked for. */
    public long length(int slot) {
        return Integer.toUnsignedLong((int) rows[slot + MSN_AND_LENGTH]);
    }

    /** STag of the source here. */
    public int sourceStag(int slot) {
        return (int) rows[slot + STAGS];
    }

    /** Tagged offset in the source. */
    public long sourceOffset(int slot) {
        return rows[slot + SOURCE_OFFSET];
    }

    /** The source's row if it was granted in this batch, else -1. */
    public int rowGranted(int slot, long batch) {
        return rows[slot + GRANT] == batch ? (int) rows[slot + ROW] : -1;
    }

    /** Offset of the source in its region's memory, once the response has begun. */
    public long memoryOffset(int slot) {
        return rows[slot + MEMORY_OFFSET];
    }

    /** Remembers the offset of the source in its region's memory. */
    public void memoryOffset(int slot, long offset) {
        rows[slot + MEMORY_OFFSET] = offset;
    }
}
