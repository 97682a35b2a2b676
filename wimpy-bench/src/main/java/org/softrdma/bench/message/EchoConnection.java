package org.softrdma.bench.message;

import java.util.EnumSet;
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
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One connection of an {@link EchoResponder}: RECVs in slots, each posted again once the answer from its slot has been sent.
 *
 * <p>A SEND that finds no RECV ends the connection. So there are slots for a window of SENDs that wait, for a window of answers whose
 * slots are not posted again yet, and for those that wait for the next signalled answer. Belongs to the thread that polls.
 */
final class EchoConnection {
    private final QueuePair queuePair;
    private final HostMemory memory;
    private final MemoryRegion region;
    private final long size;
    private final long index;
    private final int slots;
    private final int signalInterval;
    private long answers;
    private long posted;

    private EchoConnection(QueuePair queuePair, HostMemory memory, MemoryRegion region, EchoTerms terms, int index) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.region = region;
        this.index = index;
        size = terms.size();
        slots = slots(terms);
        signalInterval = signalInterval(terms);
    }

    /** Makes a queue pair with its RECVs posted. */
    static EchoConnection of(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            ConnectionRequest request,
            EchoTerms terms,
            int index) {
        int slots = slots(terms);
        HostMemory memory = device.allocateMemory(slots * terms.size());
        MemoryRegion region;
        try {
            region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        try {
            QueuePair queuePair = request.createQueuePair(
                    domain, QueuePairAttributes.of(completions, QueuePairLimits.of(slots, slots)));
            EchoConnection connection = new EchoConnection(queuePair, memory, region, terms, index);
            connection.postReceives(slots);
            return connection;
        } catch (RuntimeException e) {
            region.close();
            memory.close();
            throw e;
        }
    }

    private static int signalInterval(EchoTerms terms) {
        return Math.max(1, terms.window() / 2);
    }

    private static int slots(EchoTerms terms) {
        return 2 * terms.window() + signalInterval(terms);
    }

    /** The connection that a work request belongs to. */
    static int index(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    /** A RECV was filled. */
    void answer(long wrId, long length) {
        long slot = wrId & 0xFFFF_FFFFL;
        int flags = answers % signalInterval == signalInterval - 1 ? SendFlags.SIGNALLED : 0;
        answers++;
        require(queuePair.postSend(wrId, region, slot * size, length, flags));
    }

    /** A signalled answer was sent, and with it those before: RECVs are filled, answered and posted again in one order. */
    void answered() {
        postReceives(signalInterval);
    }

    private void postReceives(int count) {
        for (int i = 0; i < count; i++) {
            long slot = posted++ % slots;
            require(queuePair.postReceive(index << Integer.SIZE | slot, region, slot * size, size));
        }
    }

    private static void require(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new MeasurementException("a request found its queue full: a bug in softrdma perf or in the provider");
        }
    }

    boolean isEnded() {
        return queuePair.state() == QueuePairState.ERROR;
    }

    void close() {
        queuePair.close();
        region.close();
        memory.close();
    }
}
