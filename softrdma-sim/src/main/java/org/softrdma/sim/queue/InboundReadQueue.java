package org.softrdma.sim.queue;

/**
 * READ requests of the peer that wait for their response (IRRQ, RFC 5040 section 6.2). Bounded by the IRD granted to the
 * peer. Engine thread only.
 */
public final class InboundReadQueue {
    private final int limit;
    private final int mask;
    private final int[] sinkStags;
    private final long[] sinkOffsets;
    private final long[] lengths;
    private final int[] sourceStags;
    private final long[] sourceOffsets;
    private final int[] msns;
    private final long[] memoryOffsets;
    private final int[] rows;
    private final long[] grants;
    private long head;
    private long cursor;
    private long tail;

    /**
     * An empty queue.
     *
     * @param limit READs that the peer may have in flight
     */
    public InboundReadQueue(int limit) {
        this.limit = limit;
        int capacity = limit <= 1 ? 1 : Integer.highestOneBit(limit - 1) << 1;
        mask = capacity - 1;
        sinkStags = new int[capacity];
        sinkOffsets = new long[capacity];
        lengths = new long[capacity];
        sourceStags = new int[capacity];
        sourceOffsets = new long[capacity];
        msns = new int[capacity];
        memoryOffsets = new long[capacity];
        rows = new int[capacity];
        grants = new long[capacity];
    }

    /**
     * Adds a request.
     *
     * @param msn its message sequence number
     * @param sinkStag STag of the peer's sink
     * @param sinkOffset tagged offset in the peer's sink
     * @param length bytes asked for
     * @param sourceStag STag of the source here
     * @param sourceOffset tagged offset in the source
     * @param row of the stag table that was granted; any if the length is 0
     * @param batch in which it was granted
     * @return false if the peer has exceeded its limit
     */
    public boolean add(
            int msn,
            int sinkStag,
            long sinkOffset,
            long length,
            int sourceStag,
            long sourceOffset,
            int row,
            long batch) {
        if (tail - head >= limit) {
            return false;
        }
        int slot = (int) tail & mask;
        msns[slot] = msn;
        sinkStags[slot] = sinkStag;
        sinkOffsets[slot] = sinkOffset;
        lengths[slot] = length;
        sourceStags[slot] = sourceStag;
        sourceOffsets[slot] = sourceOffset;
        rows[slot] = row;
        grants[slot] = batch;
        tail++;
        return true;
    }

    /** Sequence of the request to be answered next. */
    public long cursor() {
        return cursor;
    }

    /** Moves the cursor, forward as responses are put on the wire, back when a short write did not take them. */
    public void cursor(long sequence) {
        cursor = sequence;
    }

    /** True if a request waits for its response to begin or go on. */
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

    /** The slot of a sequence. */
    public int slot(long sequence) {
        return (int) sequence & mask;
    }

    /** Message sequence number of the request. */
    public int msn(int slot) {
        return msns[slot];
    }

    /** STag of the peer's sink. */
    public int sinkStag(int slot) {
        return sinkStags[slot];
    }

    /** Tagged offset in the peer's sink. */
    public long sinkOffset(int slot) {
        return sinkOffsets[slot];
    }

    /** Bytes asked for. */
    public long length(int slot) {
        return lengths[slot];
    }

    /** STag of the source here. */
    public int sourceStag(int slot) {
        return sourceStags[slot];
    }

    /** The row of the source that was granted in a batch, or -1 if that was another batch. */
    public int rowGranted(int slot, long batch) {
        return grants[slot] == batch ? rows[slot] : -1;
    }

    /** Where the source begins in its memory, once the response has begun. */
    public long memoryOffset(int slot) {
        return memoryOffsets[slot];
    }

    /** Remembers where the source begins in its memory. */
    public void memoryOffset(int slot, long offset) {
        memoryOffsets[slot] = offset;
    }

    /** Tagged offset in the source. */
    public long sourceOffset(int slot) {
        return sourceOffsets[slot];
    }
}
