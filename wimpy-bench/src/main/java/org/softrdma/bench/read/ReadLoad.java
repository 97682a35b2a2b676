package org.softrdma.bench.read;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A load of READs: some connections to one responder, a window of READs outstanding on each, every completion followed by the
 * next READ, or READs at a given rate. One READ in {@link #VERIFY_INTERVAL} lands in memory that was spoilt before and is compared byte
 * by byte. Knows nothing of the responder but its memory: the C yardstick and a software RNIC get the same load.
 *
 * <p>Made for a device in manual progress; belongs to the thread that made it.
 */
public final class ReadLoad implements RequestLoad {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int COMPLETIONS_PER_POLL = 256;
    private static final int EMPTY_POLLS_PER_CLOCK = 64;
    private static final byte SPOILT = (byte) 0xEE;
    private static final long HIGHEST_LATENCY_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int LATENCY_DIGITS = 3;

    private final VerbsDevice device;
    private final int maxWindow;
    private final long maxSize;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final HostMemory memory;
    private final MemoryRegion region;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS_PER_POLL);
    private final MemoryPattern pattern;
    /** By slot: a division would take a tenth of a READ on the same host. */
    private final QueuePair[] bySlot;

    /** By slot: where the READ came from if it is to be verified, else -1. */
    private final long[] verifyFrom;

    private final long[] startedNs;
    private final int[] freeSlots;
    private int freeCount;
    private ReadTargets targets;
    private @Nullable Histogram latencies;
    private long size;
    private long posted;
    private long done;
    private long verified;

    private ReadLoad(VerbsDevice device, int connections, int maxWindow, long maxSize, ReadTargets targets) {
        this.device = device;
        this.maxWindow = maxWindow;
        this.maxSize = maxSize;
        this.targets = targets;
        int slots = Math.multiplyExact(connections, maxWindow);
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(slots + 1);
        memory = device.allocateMemory(slots * maxSize);
        region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK));
        pattern = new MemoryPattern(maxSize);
        bySlot = new QueuePair[slots];
        verifyFrom = new long[slots];
        startedNs = new long[slots];
        freeSlots = new int[slots];
    }

    /**
     * Connects a load.
     *
     * @param device the device, not closed by this
     * @param responder where the responder listens
     * @param connections how many connections
     * @param maxWindow largest window
     * @param maxSize longest READ
     * @param targets what to read
     */
    public static ReadLoad connect(
            VerbsDevice device,
            InetSocketAddress responder,
            int connections,
            int maxWindow,
            long maxSize,
            ReadTargets targets) {
        ReadLoad load = new ReadLoad(device, connections, maxWindow, maxSize, targets);
        try {
            for (int i = 0; i < connections; i++) {
                load.connect(responder);
            }
            return load;
        } catch (RuntimeException e) {
            load.close();
            throw e;
        }
    }

    private void connect(InetSocketAddress responder) {
        try (Connector connector = device.resolve(responder, TIMEOUT_NS)) {
            QueuePair queuePair = connector.createQueuePair(
                    domain, QueuePairAttributes.of(completions, QueuePairLimits.of(maxWindow, 1)));
            Arrays.fill(bySlot, queuePairs.size() * maxWindow, (queuePairs.size() + 1) * maxWindow, queuePair);
            queuePairs.add(queuePair);
            connector.connect(ConnectionParameters.ofReads(maxWindow), TIMEOUT_NS);
            int granted = queuePair.connectionCapabilities().maxOutboundReads().orElse(Integer.MAX_VALUE);
            if (granted < maxWindow) {
                throw new MeasurementException("the responder grants " + granted
                        + " READs in flight per connection, the window is " + maxWindow);
            }
        }
    }

    /** How many connections it has. */
    public int connections() {
        return queuePairs.size();
    }

    /** Changes what is read. */
    public void targets(ReadTargets newTargets) {
        targets = newTargets;
    }

    @Override
    public Outcome run(int window, long sizeBytes, long durationNs) {
        return run(window, sizeBytes, Arrivals.closed(durationNs), null);
    }

    /**
     * Runs from rest to rest: posts READs as they arrive and the windows allow, waits for what is outstanding.
     *
     * @param window most READs outstanding per connection
     * @param sizeBytes bytes of a READ
     * @param arrivals when READs are to start
     * @param histogram takes nanoseconds from the intended start to the completion; null for none
     */
    public Outcome run(int window, long sizeBytes, Arrivals arrivals, @Nullable Histogram histogram) {
        if (window > maxWindow || sizeBytes > maxSize) {
            throw new IllegalArgumentException("window=" + window + ", size=" + sizeBytes
                    + ": the load was made for at most " + maxWindow + ", " + maxSize);
        }
        size = sizeBytes;
        latencies = histogram;
        posted = 0;
        done = 0;
        verified = 0;
        freeCount = 0;
        for (int i = window - 1; i >= 0; i--) {
            for (int connection = queuePairs.size() - 1; connection >= 0; connection--) {
                freeSlots[freeCount++] = connection * maxWindow + i;
            }
        }
        long startNs = System.nanoTime();
        arrivals.start(startNs);
        post(arrivals, startNs);
        while (!arrivals.isOver(System.nanoTime())) {
            post(arrivals, turn());
        }
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (done < posted) {
            if (turn() - deadlineNs >= 0) {
                throw new MeasurementException((posted - done) + " READs did not complete: is the responder alive?");
            }
        }
        return new Outcome(done, System.nanoTime() - startNs, verified);
    }

    private void post(Arrivals arrivals, long nowNs) {
        while (freeCount > 0 && arrivals.isDue(nowNs)) {
            int slot = freeSlots[--freeCount];
            startedNs[slot] = arrivals.take(nowNs);
            post(slot);
        }
    }

    /** Takes what has completed; the time it was then. */
    private long turn() {
        int count = 0;
        for (int empty = 0; count == 0 && empty < EMPTY_POLLS_PER_CLOCK; empty++) {
            count = completions.poll(polled);
        }
        long nowNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int slot = take(polled[i]);
            freeSlots[freeCount++] = slot;
            if (latencies != null) {
                latencies.recordValue(Math.min(nowNs - startedNs[slot], HIGHEST_LATENCY_NS));
            }
        }
        return nowNs;
    }

    private int take(WorkCompletion completion) {
        RequestLoad.requireSuccess(completion, "a READ");
        int slot = (int) completion.wrId();
        done++;
        if (verifyFrom[slot] >= 0) {
            verify(slot);
        }
        return slot;
    }

    private void post(int slot) {
        targets.next();
        verifyFrom[slot] = -1;
        if (posted++ % VERIFY_INTERVAL == 0) {
            verifyFrom[slot] = targets.offset();
            buffer(slot).fill(SPOILT);
        }
        PostStatus status = bySlot[slot].postRead(
                slot, region, slot * maxSize, size, targets.address(), targets.rkey(), SendFlags.SIGNALLED);
        RequestLoad.requireAccepted(status, "a READ");
    }

    private MemorySegment buffer(int slot) {
        return memory.segment().asSlice(slot * maxSize, size);
    }

    private void verify(int slot) {
        long at = pattern.mismatch(buffer(slot), verifyFrom[slot]);
        if (at >= 0) {
            throw new MeasurementException("a READ of " + size + " bytes from offset " + verifyFrom[slot]
                    + " returned wrong data at byte " + at);
        }
        verified++;
    }

    /**
     * Measures READs one after the other on the first connection.
     *
     * @param sizeBytes bytes of a READ
     * @param durationNs how long
     * @param spin true to poll without rest, false to sleep in the device until something happens
     * @return their round trips in nanoseconds
     */
    public Histogram latency(long sizeBytes, long durationNs, boolean spin) {
        size = sizeBytes;
        done = 0;
        Histogram histogram = new Histogram(HIGHEST_LATENCY_NS, LATENCY_DIGITS);
        long startNs = System.nanoTime();
        long nowNs = startNs;
        while (nowNs - startNs < durationNs) {
            long before = done;
            post(0);
            while (done == before) {
                if (!spin) {
                    device.progress(TIMEOUT_NS);
                }
                int count = completions.poll(polled);
                for (int i = 0; i < count; i++) {
                    take(polled[i]);
                }
            }
            long endNs = System.nanoTime();
            histogram.recordValue(endNs - nowNs);
            nowNs = endNs;
        }
        return histogram;
    }

    @Override
    public void close() {
        queuePairs.forEach(QueuePair::close);
        region.close();
        memory.close();
        completions.close();
        domain.close();
    }
}
