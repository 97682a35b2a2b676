package org.softrdma.kv.client.rdma;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.softrdma.kv.message.TouchReportDescriptor;

/**
 * Collects which items were READ, for reports to the server. READs of one item are one record, and an item that was
 * named {@link NamedWord#TIMES_PER_INTERVAL} times is not named again for an interval that the server says, only
 * counted: more would not change its place in the LRU (memcached bumps an item once a minute for the same reason),
 * and the server would pay for it. A report is due when it is full or {@link #MAX_AGE_NS} old and the last one was
 * answered; what comes while it is full is counted too but not named, so that a slow server never makes a GET wait.
 * Allocates nothing. Owned by the thread of its reader.
 */
final class TouchReporter {
    /** How long the first record of a report may wait. */
    static final long MAX_AGE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The interval until the server has said another. */
    static final long FIRST_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private static final int CAPACITY = TouchReportDescriptor.MAX_RECORDS;
    private static final int BUCKETS = 2 * CAPACITY;
    private static final int BUCKET_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(BUCKETS);
    private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;
    private static final long GENERATION_MULTIPLIER = 0xD6E8_FEB8_6659_FD93L;
    private static final int FREE = -1;

    /** The next report may be written once the SEND of the last one is complete and it is answered. */
    private static final int PARTS_OF_A_REPORT = 2;

    private final MemorySegment memory;
    private final long start;
    private final TouchCounts counts;
    private final long[] firsts = new long[CAPACITY];
    private final int[] generations = new int[CAPACITY];
    private final int[] hits = new int[CAPACITY];
    private final int[] buckets = new int[BUCKETS];
    private int count;
    private int unnamedHits;
    private long oldestNs;
    private long intervalNs = FIRST_INTERVAL_NS;
    private int partsOutstanding;

    /**
     * An empty one.
     *
     * @param memory takes the reports that are sent
     * @param start where each starts
     */
    TouchReporter(MemorySegment memory, long start, TouchCounts counts) {
        this.memory = memory;
        this.start = start;
        this.counts = counts;
        Arrays.fill(buckets, FREE);
    }

    /**
     * A READ has found an item.
     *
     * @param first first half of its locator
     * @param generation of it
     * @param named its {@link NamedWord}
     * @param nowNs the time
     * @return the word from now on
     */
    long add(long first, int generation, long named, long nowNs) {
        if (isEmpty()) {
            oldestNs = nowNs;
        }
        if (NamedWord.isNamedOften(named, generation, nowNs, intervalNs)) {
            countUnnamed();
            return named;
        }
        if (name(first, generation)) {
            counts.named++;
            return NamedWord.namedOnceMore(named, generation, nowNs, intervalNs);
        }
        counts.dropped++;
        countUnnamed();
        return named; // what did not fit is named at the next occasion
    }

    private void countUnnamed() {
        if (unnamedHits < Integer.MAX_VALUE) {
            unnamedHits++;
        }
    }

    /** False if the report is full. */
    private boolean name(long first, int generation) {
        long hash = (first ^ generation * GENERATION_MULTIPLIER) * MULTIPLIER;
        int bucket = (int) (hash >>> BUCKET_SHIFT);
        while (buckets[bucket] != FREE) {
            int record = buckets[bucket];
            if (firsts[record] == first && generations[record] == generation) {
                hits[record]++;
                return true;
            }
            bucket = (bucket + 1) & (BUCKETS - 1);
        }
        if (count == CAPACITY) {
            return false;
        }
        buckets[bucket] = count;
        firsts[count] = first;
        generations[count] = generation;
        hits[count] = 1;
        count++;
        return true;
    }

    private boolean isEmpty() {
        return count == 0 && unnamedHits == 0;
    }

    /** True if a report should be sent now. */
    boolean isDue(long nowNs) {
        return maySend() && (count == CAPACITY || nowNs - oldestNs >= MAX_AGE_NS);
    }

    /** How long until a report is due if nothing else happens; Long.MAX_VALUE if none will be. */
    long dueInNs(long nowNs) {
        return maySend() ? Math.max(0, oldestNs + MAX_AGE_NS - nowNs) : Long.MAX_VALUE;
    }

    /** True if there is something to report, or a report that was not answered. */
    boolean isUnfinished() {
        return !isEmpty() || partsOutstanding > 0;
    }

    /** True if a report may be sent now. */
    boolean maySend() {
        return !isEmpty() && partsOutstanding == 0;
    }

    /** Writes a report, to be sent, and starts the next one; bytes of the report. */
    int seal() {
        int length = TouchReportDescriptor.length(count);
        TouchReportDescriptor.header(memory, start, count, unnamedHits);
        for (int i = 0; i < count; i++) {
            TouchReportDescriptor.record(memory, start, i, firsts[i], generations[i], hits[i]);
        }
        partsOutstanding = PARTS_OF_A_REPORT;
        count = 0;
        unnamedHits = 0;
        Arrays.fill(buckets, FREE);
        counts.reports++;
        return length;
    }

    /**
     * The server has said for how long an item that was named often enough need not be named again; less than 1 is 1.
     */
    void interval(int seconds) {
        intervalNs = TimeUnit.SECONDS.toNanos(Math.max(1, seconds));
    }

    /** The server's answer, or the completion of the SEND. */
    void partDone() {
        partsOutstanding--;
    }
}
