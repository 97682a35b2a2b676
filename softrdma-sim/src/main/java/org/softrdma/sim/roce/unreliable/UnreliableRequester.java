package org.softrdma.sim.roce.unreliable;

import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.roce.rc.MessageOpcodes;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.verbs.SendOpcode;

/**
 * Cuts the requests of a send queue into packets and numbers them; of datagrams each is one packet. A request is complete
 * when its last packet is on its way: nobody answers (IBA volume 1, 9.8.2 and 9.8.3).
 *
 * <p>{@link #next} chooses a packet, whose fields the accessors give; once it is on its way, {@link #sent} moves on. A
 * request that sends nothing (a bind or an invalidation of a window) takes no PSN; the caller executes it when {@link
 * #next} shows it. Engine thread only.
 */
public final class UnreliableRequester {
    private final SendQueue sends;
    private final int transport;
    private final int transferUnit;

    private int psn;
    /** Packets of the request at the cursor that were sent. */
    private int packet;

    // The packet that next() has chosen.
    private int slot;
    private int packets;
    private SendOpcode opcode = SendOpcode.SEND;

    /**
     * One that has sent nothing.
     *
     * @param sends what to send
     * @param transport UC or UD, as opcodes have it
     * @param transferUnit bytes of payload in a full packet; no datagram is longer
     * @param startingPsn its first PSN
     */
    public UnreliableRequester(SendQueue sends, int transport, int transferUnit, int startingPsn) {
        this.sends = sends;
        this.transport = transport;
        this.transferUnit = transferUnit;
        psn = startingPsn;
    }

    /** Its first PSN is another; before anything was sent. */
    public void startAt(int startingPsn) {
        psn = startingPsn;
    }

    /** The request at the cursor cannot be sent, or not to its end: the next packet begins another. */
    public void abandonMessage() {
        packet = 0;
    }

    /** True if the request at the cursor was sent in part. */
    public boolean isInMessage() {
        return packet > 0;
    }

    /** Chooses the next packet; false if nothing is posted. */
    public boolean next() {
        if (!sends.hasUnsent()) {
            return false;
        }
        slot = sends.slot(sends.cursor());
        opcode = sends.opcode(slot);
        packets = isLocal() ? 1 : Psn.packets(sends.entries().total(slot), transferUnit);
        return true;
    }

    /** True if the request at the cursor is not sent, but executed here. */
    public boolean isLocal() {
        return opcode == SendOpcode.BIND_WINDOW || opcode == SendOpcode.INVALIDATE;
    }

    /** Slot of the chosen packet's request. */
    public int slot() {
        return slot;
    }

    /** What the chosen packet's request does. */
    public SendOpcode request() {
        return opcode;
    }

    /** Opcode of the chosen packet. */
    public int opcode() {
        return transport | MessageOpcodes.operation(opcode, packet == 0, isLast());
    }

    private boolean isLast() {
        return packet == packets - 1;
    }

    /** PSN of the chosen packet. */
    public int psn() {
        return psn;
    }

    /** Offset of the chosen packet's payload in its message. */
    public long offset() {
        return (long) packet * transferUnit;
    }

    /** Bytes of the chosen packet's payload. */
    public int payloadLength() {
        return (int) Math.min(sends.entries().total(slot) - offset(), transferUnit);
    }

    /** The chosen packet is on its way, or lost; or the chosen local request has been executed. */
    public void sent() {
        boolean last = isLast();
        if (!isLocal()) {
            psn = Psn.plus(psn, 1);
            packet = last ? 0 : packet + 1;
        }
        if (last) {
            long sequence = sends.cursor();
            sends.cursor(sequence + 1);
            sends.complete(sequence);
        }
    }
}
