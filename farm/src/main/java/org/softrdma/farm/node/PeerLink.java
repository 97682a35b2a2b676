package org.softrdma.farm.node;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.ring.RingBox;
import org.softrdma.farm.ring.RingEnd;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A connection to another machine: a ring each way, and READs, which are numbered by their place. Messages that find no
 * room wait. The node's thread.
 */
final class PeerLink implements AutoCloseable {
    private final int machine;
    private final NodeReads reads;
    private final OpenParts open;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final RingEnd rings;
    private final WorkCompletion[] completions = WorkCompletion.array(16);
    private final Deque<ByteBuffer> waiting = new ArrayDeque<>();
    private int readsUnderWay;
    private boolean broken;

    /** What both ways of connecting share. */
    record Environment(
            VerbsDevice device,
            ProtectionDomain domain,
            NodeReads reads,
            StoreCounters counters,
            int machine,
            long cluster,
            int ring,
            int sends) {}

    private PeerLink(
            Environment environment,
            int machine,
            OpenParts open,
            CompletionQueue queue,
            QueuePair pair,
            RingBox inbox,
            RemoteRegion peer) {
        this.machine = machine;
        this.open = open;
        this.queue = queue;
        this.pair = pair;
        reads = environment.reads();
        RingBox outbox = open.add(RingBox.outbox(environment.device(), environment.domain(), environment.ring()));
        rings = new RingEnd(inbox, outbox, pair, peer, true, environment.counters());
    }

    /**
     * Connects, and waits for the answer.
     *
     * @param connector of the other machine
     * @param machine its number
     * @param timeoutNs longest wait
     * @throws VerbsException if it does not accept
     */
    static PeerLink connect(Environment environment, Connector connector, int machine, long timeoutNs) {
        OpenParts open = new OpenParts();
        Connector ignored = open.add(connector);
        try {
            CompletionQueue queue = open.add(environment.device().createCompletionQueue(environment.sends() + 1));
            RingBox inbox = open.add(RingBox.inbox(environment.device(), environment.domain(), environment.ring()));
            QueuePair pair = open.add(connector.createQueuePair(environment.domain(), attributes(environment, queue)));
            byte[] welcome = connector.connect(
                    ConnectionParameters.DEFAULT.withPrivateData(hello(environment, inbox)), timeoutNs);
            if (!NodeHelloDescriptor.isFor(welcome, environment.cluster(), environment.ring())
                    || NodeHelloDescriptor.machine(welcome) != machine) {
                throw new FarmException("machine " + machine + " is none of this cluster, or has other rings");
            }
            return new PeerLink(environment, machine, open, queue, pair, inbox, NodeHelloDescriptor.inbox(welcome));
        } catch (RuntimeException e) {
            open.close();
            throw e;
        }
    }

    /** Accepts a machine whose hello is right. */
    static PeerLink accept(Environment environment, ConnectionRequest request, byte[] hello) {
        OpenParts open = new OpenParts();
        try {
            CompletionQueue queue = open.add(environment.device().createCompletionQueue(environment.sends() + 1));
            RingBox inbox = open.add(RingBox.inbox(environment.device(), environment.domain(), environment.ring()));
            QueuePair pair = open.add(request.createQueuePair(environment.domain(), attributes(environment, queue)));
            PeerLink link = new PeerLink(
                    environment,
                    NodeHelloDescriptor.machine(hello),
                    open,
                    queue,
                    pair,
                    inbox,
                    NodeHelloDescriptor.inbox(hello));
            request.accept(ConnectionParameters.DEFAULT.withPrivateData(hello(environment, inbox)));
            return link;
        } catch (RuntimeException e) {
            open.close();
            throw e;
        }
    }

    private static QueuePairAttributes attributes(Environment environment, CompletionQueue queue) {
        return QueuePairAttributes.of(queue, QueuePairLimits.of(environment.sends(), 1));
    }

    private static byte[] hello(Environment environment, RingBox inbox) {
        return NodeHelloDescriptor.encode(
                environment.machine(), environment.cluster(), inbox.region().remote(), environment.ring());
    }

    int machine() {
        return machine;
    }

    /** True once it is of no use any more. */
    boolean isBroken() {
        return broken || pair.state() == QueuePairState.ERROR;
    }

    /** READs into a place. */
    void read(int place, long address, int rkey, int length) {
        PostStatus status =
                pair.postRead(place, reads.region(), reads.offset(place), length, address, rkey, SendFlags.SIGNALLED);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is smaller than the places for READs: " + status);
        }
        readsUnderWay++;
    }

    /** Sends a message, now or as soon as there is room. */
    void send(ByteBuffer message) {
        waiting.add(message);
        int ignored = sendWaiting();
    }

    private int sendWaiting() {
        int sent = 0;
        for (ByteBuffer next = waiting.peek(); next != null && !isBroken(); next = waiting.peek()) {
            long at = rings.claim(next.limit());
            if (at == RingEnd.FULL) {
                return sent;
            }
            rings.sending().asSlice(at, next.limit()).copyFrom(MemorySegment.ofBuffer(next));
            rings.send();
            waiting.remove();
            sent++;
        }
        return sent;
    }

    /** Takes completions, and sends what waits; returns the amount of work. */
    int doWork() {
        int count = readsUnderWay > 0 || rings.isWriting() ? queue.poll(completions) : 0;
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = completions[i];
            if (!RingEnd.isOwn(completion.wrId())) {
                readsUnderWay--;
                reads.completed((int) completion.wrId(), completion.isSuccess());
            } else if (completion.isSuccess()) {
                rings.completed(completion.wrId());
            }
            broken |= !completion.isSuccess();
        }
        return count + sendWaiting();
    }

    /** The next message, which is a copy, or null. */
    @Nullable
    ByteBuffer receive() {
        int length = isBroken() ? RingEnd.NONE : rings.poll();
        if (length == RingEnd.NONE) {
            return null;
        }
        byte[] message = new byte[length];
        MemorySegment.ofArray(message).copyFrom(rings.received().asSlice(rings.receivedAt(), length));
        rings.release();
        return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {
        broken = true;
        pair.close(); // then nothing is written any more
        open.close();
        reads.closed(machine);
    }
}
