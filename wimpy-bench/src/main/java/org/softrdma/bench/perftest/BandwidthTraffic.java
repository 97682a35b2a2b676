package org.softrdma.bench.perftest;

import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * Keeps every data queue pair full of one operation: at most tx depth of them posted and not completed, one in so many
 * signalled. WRITEs and SENDs end with a READ of one byte behind the last of them on each queue pair: its answer proves that
 * they were placed, where their own completions may only say that they were sent. Runs on the thread of its endpoint.
 */
final class BandwidthTraffic implements Traffic {
    /** Times are kept for the peak up to so many operations, as in perftest. */
    static final int MAX_TIMED = 20_000;

    private final PerfEndpoint endpoint;
    private final SendOpcode opcode;
    private final int txDepth;
    private final int moderation;
    private final int inline;
    private final int receives;
    private final int queuePairs;
    private final long[] posted;
    private final long[] completed;
    private final int[] sinceSignal;
    private final boolean[] closing;
    /** RECVs that the peer still has, see {@link SinkTraffic}; what takes none does not look. */
    private final long[] credits;

    private final long[] postedAtNs = new long[MAX_TIMED];
    private final long[] completedAtNs = new long[MAX_TIMED];
    private long sizeBytes;
    private long iterations;
    private boolean timed;
    private boolean untilDeadline;
    private long deadlineNs;
    private long startNs;
    private long endNs;
    private long totalPosted;
    private long totalCompleted;
    private int finished;

    /**
     * Traffic on all data queue pairs of an endpoint.
     *
     * @param endpoint the endpoint, all data queue pairs created
     * @param opcode what to do
     * @param txDepth operations posted and not completed
     * @param moderation one operation in so many is signalled, at most txDepth
     * @param inline largest inline message
     * @param receives size of the peer's receive queues, for what takes a RECV
     */
    BandwidthTraffic(PerfEndpoint endpoint, SendOpcode opcode, int txDepth, int moderation, int inline, int receives) {
        this.endpoint = endpoint;
        this.opcode = opcode;
        this.txDepth = txDepth;
        this.moderation = moderation;
        this.inline = inline;
        this.receives = receives;
        queuePairs = endpoint.dataCount();
        posted = new long[queuePairs];
        completed = new long[queuePairs];
        sinceSignal = new int[queuePairs];
        closing = new boolean[queuePairs];
        credits = new long[queuePairs];
        java.util.Arrays.fill(credits, receives);
    }

    @Override
    public void begin(long newSizeBytes, long newIterations, long durationNs) {
        sizeBytes = newSizeBytes;
        iterations = newIterations;
        untilDeadline = durationNs > 0;
        timed = !untilDeadline && iterations * queuePairs <= MAX_TIMED;
        for (int i = 0; i < queuePairs; i++) {
            posted[i] = 0;
            completed[i] = 0;
            sinceSignal[i] = 0;
            closing[i] = false;
        }
        totalPosted = 0;
        totalCompleted = 0;
        finished = 0;
        startNs = System.nanoTime();
        endNs = startNs;
        deadlineNs = startNs + durationNs;
    }

    @Override
    public void pump() {
        if (untilDeadline && System.nanoTime() - deadlineNs >= 0) {
            // The next operation of each queue pair is its last, and signalled.
            untilDeadline = false;
            iterations = 0;
            for (int i = 0; i < queuePairs; i++) {
                iterations = Math.max(iterations, posted[i] + 1);
            }
        }
        for (int i = 0; i < queuePairs; i++) {
            pump(i);
        }
    }

    private void pump(int index) {
        QueuePair queuePair = endpoint.data(index);
        while (mayPost(index)) {
            boolean last = !untilDeadline && posted[index] + 1 == iterations;
            boolean signalled = ++sinceSignal[index] == moderation || last;
            int flags = (signalled ? SendFlags.SIGNALLED : 0)
                    | (opcode.carriesData() && sizeBytes <= inline ? SendFlags.INLINE : 0);
            long wrId = PerfEndpoint.wrId(PerfEndpoint.DATA, index, sinceSignal[index]);
            PerfEndpoint.require(post(queuePair, index, wrId, flags), opcode.name());
            if (timed) {
                postedAtNs[(int) totalPosted] = System.nanoTime();
            }
            if (signalled) {
                sinceSignal[index] = 0;
            }
            posted[index]++;
            totalPosted++;
            credits[index]--;
        }
    }

    private boolean mayPost(int index) {
        return (untilDeadline || posted[index] < iterations)
                && posted[index] - completed[index] < txDepth
                && (!opcode.consumesReceive() || credits[index] > 0);
    }

    private PostStatus post(QueuePair queuePair, int index, long wrId, int flags) {
        long offset = index * endpoint.stride();
        return switch (opcode) {
            case READ ->
                queuePair.postRead(
                        wrId,
                        endpoint.region(),
                        offset,
                        sizeBytes,
                        endpoint.remoteAddress(index),
                        endpoint.remoteKey(),
                        flags);
            case WRITE ->
                queuePair.postWrite(
                        wrId,
                        endpoint.region(),
                        offset,
                        sizeBytes,
                        endpoint.remoteAddress(index),
                        endpoint.remoteKey(),
                        flags);
            case WRITE_IMMEDIATE ->
                queuePair.postWriteImmediate(
                        wrId,
                        endpoint.region(),
                        offset,
                        sizeBytes,
                        endpoint.remoteAddress(index),
                        endpoint.remoteKey(),
                        index,
                        flags);
            case SEND -> queuePair.postSend(wrId, endpoint.region(), offset, sizeBytes, flags);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> endpoint.postAtomic(opcode, index, wrId, flags);
            case SEND_IMMEDIATE, SEND_INVALIDATE, INVALIDATE, BIND_WINDOW ->
                throw new IllegalStateException("no test measures " + opcode);
        };
    }

    @Override
    public void completed(int kind, int index, int count) {
        switch (kind) {
            case PerfEndpoint.RECEIVE -> {
                credits[index] += SinkTraffic.grant(receives);
                endpoint.postReceive(index);
            }
            case PerfEndpoint.LAST -> finish();
            case PerfEndpoint.DATA -> {
                completed[index] += count;
                if (timed) {
                    long nowNs = System.nanoTime();
                    for (int i = 0; i < count; i++) {
                        completedAtNs[(int) totalCompleted + i] = nowNs;
                    }
                }
                totalCompleted += count;
                if (!untilDeadline && completed[index] == iterations && !closing[index]) {
                    closing[index] = true;
                    close(index);
                }
            }
            default -> {}
        }
    }

    private void close(int index) {
        if (opcode.isAnswered()) {
            finish();
            return;
        }
        PerfEndpoint.require(
                endpoint.data(index)
                        .postRead(
                                PerfEndpoint.wrId(PerfEndpoint.LAST, index, 0),
                                endpoint.region(),
                                index * endpoint.stride(),
                                1,
                                endpoint.remoteAddress(index),
                                endpoint.remoteKey(),
                                SendFlags.SIGNALLED),
                "last READ");
    }

    private void finish() {
        if (++finished == queuePairs) {
            endNs = System.nanoTime();
        }
    }

    @Override
    public boolean isDone() {
        return finished == queuePairs;
    }

    @Override
    public long operations() {
        return totalCompleted;
    }

    @Override
    public long elapsedNs() {
        return endNs - startNs;
    }

    /**
     * Operations per second in the best stretch, as perftest finds its peak: the shortest time per operation between a
     * posting and a later completion. 0 if the times were not kept.
     */
    double peakPerSecond() {
        if (!timed || totalCompleted == 0) {
            return 0;
        }
        double shortest = Double.MAX_VALUE;
        int total = (int) totalCompleted;
        for (int i = 0; i < total; i++) {
            for (int j = total - 1; j >= i; j--) {
                shortest = Math.min(shortest, (double) (completedAtNs[j] - postedAtNs[i]) / (j - i + 1));
            }
        }
        return shortest <= 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / shortest;
    }
}
