package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.softrdma.kv.memcached.TouchReportDescriptor;

/**
 * Collects which items were READ, for reports to the server. READs of one item are one record. A report is due when it is
 * full or {@link #MAX_AGE_NS} old and the last one was answered; what comes while it is full is dropped and counted, so that
 * a slow server never makes a GET wait. Allocates nothing. Owned by the thread of its reader.
 */
final class TouchReporter {
    /** How long the first record of a report may wait. */
    static final long MAX_AGE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private static final int CAPACITY = TouchReportDescriptor.MAX_RECORDS;
    private static final int BUCKETS = 2 * CAPACITY;
    private static final int BUCKET_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(BUCKETS);
    private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;
    private static final int FREE = -1;

    /** The next report may be written once the SEND of the last one is complete and it is answered. */
    private static final int PARTS_OF_A_REPORT = 2;

    private final MemorySegment memory;
    private final long start;
    private final KvClientCounters counters;
    private final long[] firsts = new long[CAPACITY];
    private final int[] generations = new int[CAPACITY];
    private final int[] hits = new int[CAPACITY];
    private final int[] buckets = new int[BUCKETS];
    private int count;
    private long oldestNs;
    private int partsOutstanding;

    /**
     * An empty one.
     *
     * @param memory takes the reports that are sent
     * @param start where each starts
     */
    TouchReporter(MemorySegment memory, long start, KvClientCounters counters) {
        this.memory = memory;
        this.start = start;
        this.counters = counters;
        Arrays.fill(buckets, FREE);
    }

    /** A READ has found an item. */
    void add(long first, int generation, long nowNs) {
        int bucket = (int) (((first ^ generation) * MULTIPLIER) >>> BUCKET_SHIFT);
        while (buckets[bucket] != FREE) {
            int record = buckets[bucket];
            if (firsts[record] == first && generations[record] == generation) {
                if (hits[record] < Integer.MAX_VALUE) {
                    hits[record]++;
                }
                return;
            }
            bucket = (bucket + 1) & (BUCKETS - 1);
        }
        if (count == CAPACITY) {
            counters.touchesDropped++;
            return;
        }
        if (count == 0) {
            oldestNs = nowNs;
        }
        buckets[bucket] = count;
        firsts[count] = first;
        generations[count] = generation;
        hits[count] = 1;
        count++;
    }

    /** True if a report should be sent now. */
    boolean isDue(long nowNs) {
        return count > 0 && partsOutstanding == 0 && (count == CAPACITY || nowNs - oldestNs >= MAX_AGE_NS);
    }

    /** How long until a report is due if nothing else happens; Long.MAX_VALUE if none will be. */
    long dueInNs(long nowNs) {
        return maySend() ? Math.max(0, oldestNs + MAX_AGE_NS - nowNs) : Long.MAX_VALUE;
    }

    /** True if there is something to report, or a report that was not answered. */
    boolean isUnfinished() {
        return count > 0 || partsOutstanding > 0;
    }

    /** True if a report may be sent now. */
    boolean maySend() {
        return count > 0 && partsOutstanding == 0;
    }

    /** Writes a report, to be sent, and starts the next one; bytes of the report. */
    int seal() {
        int length = TouchReportDescriptor.length(count);
        TouchReportDescriptor.header(memory, start, count);
        for (int i = 0; i < count; i++) {
            TouchReportDescriptor.record(memory, start, i, firsts[i], generations[i], hits[i]);
        }
        partsOutstanding = PARTS_OF_A_REPORT;
        count = 0;
        Arrays.fill(buckets, FREE);
        counters.touchReports++;
        return length;
    }

    /** The server's answer, or the completion of the SEND. */
    void partDone() {
        partsOutstanding--;
    }
}
