package org.softrdma.sim.roce.unreliable;

import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.RoutingHeader;

/**
 * The receiving end of a queue pair of datagrams (IBA volume 1, 9.8.3): each is one message, behind the 40 bytes of a
 * routing header. PSNs are not looked at: many senders share the queue pair, each with numbers of its own.
 *
 * <p>Engine thread only.
 */
public final class DatagramResponder {
    private final UnreliableTarget target;
    private int queueKey;
    private final Counters<Drop> drops;
    private boolean failed;

    /**
     * One that has received nothing.
     *
     * @param target what datagrams act on
     * @param queueKey that they must carry
     * @param drops where drops are counted
     */
    public DatagramResponder(UnreliableTarget target, int queueKey, Counters<Drop> drops) {
        this.target = target;
        this.queueKey = queueKey;
        this.drops = drops;
    }

    /** From now on datagrams must carry another key. */
    public void queueKey(int newQueueKey) {
        queueKey = newQueueKey;
    }

    /**
     * True if a datagram is taken: {@link #place} is next. It has been checked: its lengths, ICRC and partition.
     *
     * @param packet where its BTH is
     * @param length its bytes
     */
    public boolean takes(long packet, int length) {
        if (failed) {
            return false;
        }
        long total = RoutingHeader.LENGTH + (long) RocePacket.payloadLength(packet, length);
        if (Deth.queueKey(packet) != queueKey) {
            drops.add(Drop.WRONG_QUEUE_KEY, 1);
        } else if (!target.hasReceive()) {
            drops.add(Drop.NO_RECEIVE, 1);
        } else if (total > target.receiveLength()) {
            drops.add(Drop.TOO_LONG, 1);
        } else {
            return true;
        }
        return false;
    }

    /**
     * Completes a RECV with a datagram.
     *
     * @param packet where its BTH is
     * @param length its bytes
     * @param routingHeader the bytes that go before it
     */
    public void place(long packet, int length, long routingHeader) {
        int opcode = Bth.opcode(packet);
        int payload = RocePacket.payloadLength(packet, length);
        boolean placed = target.placeInReceive(0, routingHeader, RoutingHeader.LENGTH)
                && (payload == 0
                        || target.placeInReceive(
                                RoutingHeader.LENGTH, packet + RoceOpcode.headerLength(opcode), payload));
        if (!placed) {
            target.failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR);
            failed = true;
            return;
        }
        boolean hasImmediate = RoceOpcode.hasImmediate(opcode);
        target.completeDatagram(
                RoutingHeader.LENGTH + (long) payload,
                Deth.source(packet),
                hasImmediate ? RocePacket.lastWord(packet) : 0,
                hasImmediate,
                (Bth.flags(packet) & Bth.SOLICITED) != 0);
    }

    /** True once the memory of a RECV could not be written: the queue pair has to go to error. */
    public boolean hasFailed() {
        return failed;
    }
}
