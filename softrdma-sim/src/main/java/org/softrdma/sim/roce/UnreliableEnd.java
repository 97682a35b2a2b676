package org.softrdma.sim.roce;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.LocalRequests;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.roce.unreliable.UnreliableRequester;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;

/**
 * An end that sends what is posted and hears nothing of it. A request that has no room at the socket waits; one that a
 * peer or the network loses is lost. Inside a batch.
 */
abstract class UnreliableEnd implements TransportEnd {
    /** Packets before another queue pair has its turn. */
    private static final int PACKETS_PER_TURN = 32;

    private static final int NO_CULPRIT = -1;

    /** What is posted. */
    final SendQueue sends;
    /** What the peer's messages act on. */
    final PeerTarget target;

    private final QueuePairEnd queuePair;
    private final UnreliableRequester requester;
    private final LocalRequests local;
    private final LocalPayload payload;

    private boolean over;
    /** No request is begun. */
    private boolean drains;
    /** A request could not be sent, and no other is. */
    private boolean failed;

    /**
     * An end on which nothing was sent.
     *
     * @param engine of the queue pair
     * @param queuePair its queue pair
     * @param transport UC or UD, as opcodes have it
     * @param transferUnit bytes of payload in a full packet
     * @param startingPsn its first PSN
     */
    UnreliableEnd(RnicEngine engine, QueuePairEnd queuePair, int transport, int transferUnit, int startingPsn) {
        this.queuePair = queuePair;
        sends = queuePair.sendQueue();
        local = queuePair.localRequests();
        payload = new LocalPayload(engine, sends, queuePair.domainNumber());
        target = new PeerTarget(engine, queuePair, local.windows());
        requester = new UnreliableRequester(sends, transport, transferUnit, startingPsn);
    }

    /** Its first PSN is another than it was made with; nothing was sent. */
    final void sendFrom(int startingPsn) {
        requester.startAt(startingPsn);
    }

    // ---- what the kinds of ends do in their own way

    /** The path of a request's packets. */
    abstract RocePath path(int slot);

    /** The queue pair that a request's packets go to. */
    abstract int destination(int slot);

    /** Writes the headers behind the BTH, but for an immediate. */
    abstract void putHeaders(long packet, int opcode, int slot);

    /** A packet of a peer; false if this side must not go on. */
    abstract boolean take(Arrival arrival, long packet, int length);

    /** False if a request's packets leave by another port than that of a stage, which was told to go on with them. */
    abstract boolean leavesBy(PacketStage stage, int slot);

    // ---- what arrives

    @Override
    public final void received(Arrival arrival, long packet, int length, long nowNs) {
        if (!over && !take(arrival, packet, length)) {
            over = true;
        }
    }

    // ---- what is sent

    @Override
    public final boolean fill(PacketStage stage, long nowNs) {
        for (int i = 0; i < PACKETS_PER_TURN && !over && !failed; i++) {
            if (!requester.next() || (drains && isDrained())) {
                return false;
            }
            if (requester.isLocal()) {
                execute();
            } else if (!leavesBy(stage, requester.slot())) {
                return false;
            } else if (!stage.hasRoom()) {
                return true;
            } else {
                add(stage);
            }
        }
        if (failed) {
            queuePair.flush();
        }
        return !over && !failed;
    }

    /** A request that sends nothing. */
    private void execute() {
        if (local.windows().execute(requester.slot())) {
            requester.sent();
        } else {
            fail(LocalRequests.failure(requester.request()));
        }
    }

    private void add(PacketStage stage) {
        int slot = requester.slot();
        int opcode = requester.opcode();
        int length = requester.payloadLength();
        long at = stage.next();
        boolean readable = (requester.offset() > 0 || payload.mayRead(slot))
                && (length == 0
                        || payload.copy(slot, requester.offset(), at + RoceOpcode.headerLength(opcode), length));
        if (!readable) {
            fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        boolean solicited = RoceOpcode.endsMessage(opcode) && sends.hasFlag(slot, SendFlags.SOLICITED);
        int flags = Bth.MIGRATED | (solicited ? Bth.SOLICITED : 0);
        Bth.put(at, opcode, flags, length, destination(slot), requester.psn());
        putHeaders(at, opcode, slot);
        if (RoceOpcode.hasImmediate(opcode)) {
            RocePacket.putLastWord(at, opcode, sends.immediate(slot));
        }
        RocePacket.putPad(at, opcode, length);
        stage.add(RocePacket.length(opcode, length), path(slot));
        requester.sent(); // last: its completion frees the slot
    }

    /** The request at the cursor cannot be done; all before it are complete. The peers' messages go on (IBTA 10.3.1.5). */
    private void fail(CompletionStatus status) {
        failed = true;
        requester.abandonMessage();
        queuePair.sendQueueFailed(sends.cursor(), status);
    }

    @Override
    public final void drain() {
        drains = true;
    }

    @Override
    public final void resume() {
        drains = false;
        failed = false;
    }

    @Override
    public final boolean isDrained() {
        return !requester.isInMessage();
    }

    // ---- how it ends

    @Override
    public final void allowRequests() {
        // Nobody has to be ready.
    }

    /** Nobody answers. */
    @Override
    public final boolean ask() {
        return false;
    }

    @Override
    public final void abandonRequests() {
        over = true;
        local.abandon();
    }

    @Override
    public final long deadlineNs() {
        return Long.MAX_VALUE;
    }

    @Override
    public final void onTime(long nowNs) {
        // Nothing is waited for.
    }

    @Override
    public final boolean isOver() {
        return over;
    }

    /** A request that has failed does not end it. */
    @Override
    public final @Nullable CompletionStatus failure() {
        return null;
    }

    @Override
    public final long culprit() {
        return NO_CULPRIT;
    }

    @Override
    public final boolean isAccessRefused() {
        return false; // that costs a message only
    }
}
