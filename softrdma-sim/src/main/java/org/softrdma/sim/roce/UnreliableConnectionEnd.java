package org.softrdma.sim.roce;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.roce.unreliable.UnreliableResponder;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.QueuePairAddress;

/** One end of an unreliable connection. Inside a batch. */
final class UnreliableConnectionEnd extends UnreliableEnd {
    private final RocePath path;
    private final int peerQueuePair;
    private final UnreliableResponder responder;

    /**
     * An end on which nothing was sent.
     *
     * @param engine of the queue pair
     * @param queuePair its queue pair
     * @param path to the peer
     * @param transferUnit bytes of payload in a full packet
     * @param startingPsn its first PSN
     * @param peer the other end
     * @param port that its packets leave
     */
    UnreliableConnectionEnd(
            RnicEngine engine,
            QueuePairEnd queuePair,
            RocePath path,
            int transferUnit,
            int startingPsn,
            QueuePairAddress peer,
            RocePort port) {
        super(engine, queuePair, RoceOpcode.UC, transferUnit, startingPsn);
        this.path = path;
        peerQueuePair = peer.number();
        responder = new UnreliableResponder(target, transferUnit, port.drops(), peer.sequence());
    }

    @Override
    RocePath path(int slot) {
        return path;
    }

    @Override
    int destination(int slot) {
        return peerQueuePair;
    }

    @Override
    void putHeaders(long packet, int opcode, int slot) {
        if (RoceOpcode.hasReth(opcode)) {
            Reth.put(packet, sends.remoteAddress(slot), sends.rkey(slot), (int)
                    sends.entries().total(slot));
        }
    }

    @Override
    boolean leavesBy(PacketStage stage, int slot) {
        return true;
    }

    @Override
    boolean take(Arrival arrival, long packet, int length) {
        responder.onPacket(packet, length);
        return !responder.hasFailed();
    }
}
