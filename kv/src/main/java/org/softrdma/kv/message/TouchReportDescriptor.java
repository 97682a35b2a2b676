package org.softrdma.kv.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What a client SENDs about the items that it has READ, for the server's LRU and statistics: the server does not see
 * READs. Little endian, 8-byte aligned. The client writes all of it, and sends the next one only after the answer to
 * the last ({@link AnswerDescriptor#TOUCHED}): that is its credit.
 *
 * <pre>
 *  31                                                              0
 * +-----------------------------------------------------------------+
 * |  magic, "SRKT" in memory order                                   |   0
 * +-----------------------------------------------------------------+
 * |  protocol version, as in "rdma hello 2"                          |   4
 * +-----------------------------------------------------------------+
 * |  number of records, 0 to 256                                     |   8
 * +-----------------------------------------------------------------+
 * |  READs that found an item and are in no record, 0 to 2^31 - 1;   |  12
 * |  not 0 without records                                           |
 * +-----------------------------------------------------------------+
 * |  record: first half of the item's locator (rkey, offset / 8)     |  16 + 16 i
 * |                                                                  |
 * +-----------------------------------------------------------------+
 * |          generation of the item                                  |  24 + 16 i
 * +-----------------------------------------------------------------+
 * |          READs that found it, 1 to 2^31 - 1                      |  28 + 16 i
 * +-----------------------------------------------------------------+
 * </pre>
 */
public final class TouchReportDescriptor {
    /** The most records of a report. */
    public static final int MAX_RECORDS = 256;

    private static final int MAGIC_OFFSET = 0;
    private static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    private static final int COUNT_OFFSET = VERSION_OFFSET + Integer.BYTES;
    private static final int UNNAMED_OFFSET = COUNT_OFFSET + Integer.BYTES;
    private static final int RECORDS_OFFSET = UNNAMED_OFFSET + Integer.BYTES;

    private static final int FIRST_OFFSET = 0;
    private static final int GENERATION_OFFSET = FIRST_OFFSET + Long.BYTES;
    private static final int HITS_OFFSET = GENERATION_OFFSET + Integer.BYTES;
    private static final int RECORD_LENGTH = HITS_OFFSET + Integer.BYTES;

    /** Bytes of the longest report. */
    public static final int MAX_LENGTH = RECORDS_OFFSET + MAX_RECORDS * RECORD_LENGTH;

    private static final int MAGIC = 'S' | 'R' << 8 | 'K' << 16 | 'T' << 24;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private TouchReportDescriptor() {}

    /**
     * Bytes of a report.
     *
     * @param count its records
     */
    public static int length(int count) {
        return RECORDS_OFFSET + count * RECORD_LENGTH;
    }

    /**
     * Writes what is before the records.
     *
     * @param memory takes it
     * @param offset where the report starts
     * @param count its records, 0 to {@link #MAX_RECORDS}
     * @param unnamedHits READs that found an item and are in no record; not 0 without records
     */
    public static void header(MemorySegment memory, long offset, int count, int unnamedHits) {
        memory.set(INT, offset + MAGIC_OFFSET, MAGIC);
        memory.set(INT, offset + VERSION_OFFSET, HelloDescriptor.VERSION);
        memory.set(INT, offset + COUNT_OFFSET, count);
        memory.set(INT, offset + UNNAMED_OFFSET, unnamedHits);
    }

    /**
     * Writes a record.
     *
     * @param memory takes it
     * @param offset where the report starts
     * @param index of the record, from 0
     * @param first first half of the item's locator
     * @param generation of the item
     * @param hits READs that found it
     */
    public static void record(MemorySegment memory, long offset, int index, long first, int generation, int hits) {
        long record = record(offset, index);
        memory.set(LONG, record + FIRST_OFFSET, first);
        memory.set(INT, record + GENERATION_OFFSET, generation);
        memory.set(INT, record + HITS_OFFSET, hits);
    }

    /**
     * True if this is such a message of our version, and of a length that fits it; records are to be looked at by
     * themselves.
     *
     * @param memory holds the message
     * @param offset where it starts
     * @param available bytes received
     */
    public static boolean isValid(MemorySegment memory, long offset, long available) {
        if (available < length(0)
                || available > MAX_LENGTH
                || memory.get(INT, offset + MAGIC_OFFSET) != MAGIC
                || memory.get(INT, offset + VERSION_OFFSET) != HelloDescriptor.VERSION) {
            return false;
        }
        int count = count(memory, offset);
        return count >= 0
                && count <= MAX_RECORDS
                && length(count) == available
                && unnamedHits(memory, offset) >= (count == 0 ? 1 : 0);
    }

    /**
     * The number of records.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static int count(MemorySegment memory, long offset) {
        return memory.get(INT, offset + COUNT_OFFSET);
    }

    /**
     * READs that found an item and are in no record.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static int unnamedHits(MemorySegment memory, long offset) {
        return memory.get(INT, offset + UNNAMED_OFFSET);
    }

    /**
     * First half of the locator of a record.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     * @param index of the record, from 0
     */
    public static long first(MemorySegment memory, long offset, int index) {
        return memory.get(LONG, record(offset, index) + FIRST_OFFSET);
    }

    /**
     * Generation of a record; anything, from a bad client.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     * @param index of the record, from 0
     */
    public static int generation(MemorySegment memory, long offset, int index) {
        return memory.get(INT, record(offset, index) + GENERATION_OFFSET);
    }

    /**
     * READs of a record; less than 1 from a bad client.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     * @param index of the record, from 0
     */
    public static int hits(MemorySegment memory, long offset, int index) {
        return memory.get(INT, record(offset, index) + HITS_OFFSET);
    }

    private static long record(long offset, int index) {
        return offset + RECORDS_OFFSET + (long) index * RECORD_LENGTH;
    }
}
