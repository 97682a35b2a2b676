package org.softrdma.bench.message;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.MemoryPattern;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What loads of WRITEs and SENDs share: connections, one memory, and the loop that keeps windows full. Its memory begins with the
 * pattern that is sent, long enough to begin at any byte of a period; then spoilt bytes, as many as the longest message; then one
 * place for each slot of each connection, where what comes back is compared.
 *
 * <p>Made for a device in manual progress; belongs to the thread that made it.
 */
abstract class MessageLoad implements RequestLoad {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int COMPLETIONS_PER_POLL = 256;
    private static final int EMPTY_POLLS_PER_CLOCK = 64;
    /** Requests that were not signalled keep their places in the queue until a later one that was is polled. */
    private static final int LEAST_SENDS = 64;

    private static final int SENDS_PER_WINDOW = 4;
    private static final byte SPOILT = (byte) 0xEE;

    private final int maxWindow;
    private final long maxSize;
    private final int slots;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final HostMemory memory;
    private final MemoryRegion region;
    private final MemoryPattern pattern;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS_PER_POLL);
    private long posted;
    private long done;
    private long verified;

    /**
     * Without connections yet.
     *
     * @param device not closed by this
     * @param connections how many there will be
     * @param slots places of a connection for what comes back
     * @param maxWindow largest window
     * @param maxSize longest message
     * @param completionsPerConnection most completions that a connection has at a time
     * @param access what its memory is registered for
     */
    MessageLoad(
            VerbsDevice device,
            int connections,
            int slots,
            int maxWindow,
            long maxSize,
            int completionsPerConnection,
            Set<AccessFlag> access) {
        this.slots = slots;
        this.maxWindow = maxWindow;
        this.maxSize = maxSize;
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(Math.multiplyExact(connections, completionsPerConnection));
        memory = device.allocateMemory(slotOffset(connections, 0));
        MemorySegment segment = memory.segment();
        MemoryPattern.fill(segment.asSlice(0, spoiltOffset()));
        segment.asSlice(spoiltOffset(), maxSize).fill(SPOILT);
        region = domain.register(segment, access);
        pattern = new MemoryPattern(maxSize);
    }

    /** Connects once more; returns the private data of the acceptance. */
    final byte[] connect(
            VerbsDevice device, InetSocketAddress responder, QueuePairLimits limits, ConnectionParameters parameters) {
        try (Connector connector = device.resolve(responder, TIMEOUT_NS)) {
            QueuePair queuePair = connector.createQueuePair(domain, QueuePairAttributes.of(completions, limits));
            queuePairs.add(queuePair);
            prepare(queuePairs.size() - 1);
            return connector.connect(parameters, TIMEOUT_NS);
        }
    }

    // ---- what a load does

    /** A connection has its queue pair and is connected next. */
    abstract void prepare(int connection);

    /** A run begins. */
    abstract void begin(int window, long size);

    /** Posts as much as the window of a connection that is at rest takes. */
    abstract void fill(int connection);

    /**
     * Takes a completion.
     *
     * @param completion a success
     * @param mayPost true if more is to be posted
     */
    abstract void take(WorkCompletion completion, boolean mayPost);

    /**
     * Takes what has come without a completion.
     *
     * @param mayPost true if more is to be posted
     * @return how much has come
     */
    int look(boolean mayPost) {
        return 0;
    }

    // ---- for loads

    final QueuePair queuePair(int connection) {
        return queuePairs.get(connection);
    }

    final int connections() {
        return queuePairs.size();
    }

    final MemoryRegion region() {
        return region;
    }

    final MemorySegment segment() {
        return memory.segment();
    }

    /** Where in the region the spoilt bytes are. */
    final long spoiltOffset() {
        return maxSize + MemoryPattern.PERIOD;
    }

    /** Where in the region a slot of a connection is. */
    final long slotOffset(int connection, int slot) {
        return spoiltOffset() + maxSize + ((long) connection * slots + slot) * maxSize;
    }

    /** One number in {@link #VERIFY_INTERVAL}, each time another place in the window. */
    static boolean isVerified(long number) {
        return (number + number / VERIFY_INTERVAL) % VERIFY_INTERVAL == 0;
    }

    final void spoil(int connection, int slot, long length) {
        memory.segment().asSlice(slotOffset(connection, slot), length).fill(SPOILT);
    }

    /**
     * Compares a slot with the pattern.
     *
     * @param from where in the pattern it begins
     */
    final void verify(int connection, int slot, long length, long from) {
        long at = pattern.mismatch(memory.segment().asSlice(slotOffset(connection, slot), length), from);
        if (at >= 0) {
            throw new MeasurementException(
                    "of a message of " + length + " bytes, byte " + at + " came back wrong: a bug of the responder");
        }
        verified++;
    }

    /** Refuses a run of a load that was made for one window and size. */
    static void requireExactly(int window, int runWindow, long size, long runSize) {
        if (runWindow != window || runSize != size) {
            throw new IllegalArgumentException("window=" + runWindow + ", size=" + runSize
                    + ": the load was made for exactly " + window + ", " + size);
        }
    }

    static void require(PostStatus status) {
        RequestLoad.requireAccepted(status, "a request");
    }

    /** Places in the send queue for a window of requests of which few are signalled. */
    static int sends(int window) {
        return Math.max(LEAST_SENDS, SENDS_PER_WINDOW * window);
    }

    /** One of so many requests is signalled. */
    static int signalInterval(int window) {
        return sends(window) / SENDS_PER_WINDOW;
    }

    /** So many requests were posted. */
    final void posted(long count) {
        posted += count;
    }

    /** So many requests have ended. */
    final void done(long count) {
        done += count;
    }

    // ---- running

    @Override
    public final Outcome run(int window, long sizeBytes, long durationNs) {
        if (window < 1 || window > maxWindow || sizeBytes < 1 || sizeBytes > maxSize) {
            throw new IllegalArgumentException("window=" + window + ", size=" + sizeBytes
                    + ": the load was made for at most " + maxWindow + ", " + maxSize);
        }
        posted = 0;
        done = 0;
        verified = 0;
        begin(window, sizeBytes);
        long startNs = System.nanoTime();
        for (int i = 0; i < queuePairs.size(); i++) {
            fill(i);
        }
        long nowNs = startNs;
        while (nowNs - startNs < durationNs) {
            nowNs = turn(true);
        }
        while (done < posted) {
            if (turn(false) - startNs - durationNs > TIMEOUT_NS) {
                throw new MeasurementException((posted - done) + " requests did not end: is the responder alive?");
            }
        }
        return new Outcome(done, System.nanoTime() - startNs, verified);
    }

    /** Takes what has completed; the time it was then. */
    private long turn(boolean mayPost) {
        int taken = 0;
        for (int empty = 0; taken == 0 && empty < EMPTY_POLLS_PER_CLOCK; empty++) {
            int count = completions.poll(polled);
            for (int i = 0; i < count; i++) {
                RequestLoad.requireSuccess(polled[i], "a request");
                take(polled[i], mayPost);
            }
            taken = count + look(mayPost);
        }
        if (taken == 0) {
            requireConnected();
        }
        return System.nanoTime();
    }

    /** Where nothing signalled is outstanding, a lost connection flushes nothing that would tell. */
    private void requireConnected() {
        for (int i = 0; i < queuePairs.size(); i++) {
            if (queuePairs.get(i).state() == QueuePairState.ERROR) {
                throw new MeasurementException("the responder ended connection " + i + ", or has ended itself");
            }
        }
    }

    @Override
    public final void close() {
        queuePairs.forEach(QueuePair::close);
        region.close();
        memory.close();
        completions.close();
        domain.close();
    }
}
