package org.softrdma.sim.roce.unreliable;

import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;

/**
 * The responder of an unreliable connection (IBA volume 1, 9.8.2): executes the messages that arrive whole and in order,
 * and answers nothing.
 *
 * <p>A packet behind the expected one means that some are missing, and with them the message that was being received. Only
 * a packet that begins a message is taken then; the rest of an incomplete message is dropped. A packet before the expected
 * one came late or twice and is dropped too: no message is delivered twice, or behind a later one. A SEND or a WRITE with
 * immediate completes its RECV when all of it has come, or never; of an incomplete WRITE the beginning may be in memory.
 *
 * <p>What the target refuses costs the message, not the connection. Only a RECV whose own memory may not be written is an
 * error of this side: {@link #hasFailed}. Engine thread only.
 */
public final class UnreliableResponder {
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final UnreliableTarget target;
    private final int transferUnit;
    private final Counters<Drop> drops;

    private int expected;
    private boolean failed;

    // The message being received.
    private Message message = Message.NONE;
    private long received;
    private int rkey;
    private long address;
    private long writeLength;

    /**
     * One that has received nothing.
     *
     * @param target what messages act on
     * @param transferUnit bytes of payload in a full packet
     * @param drops where drops are counted
     * @param startingPsn the peer's first PSN
     */
    public UnreliableResponder(UnreliableTarget target, int transferUnit, Counters<Drop> drops, int startingPsn) {
        this.target = target;
        this.transferUnit = transferUnit;
        this.drops = drops;
        expected = startingPsn;
    }

    /**
     * A packet of the peer, which has been checked: its lengths, ICRC, partition and source.
     *
     * @param packet where its BTH is
     * @param length its bytes
     */
    public void onPacket(long packet, int length) {
        int psn = Bth.psn(packet);
        int ahead = Psn.distance(expected, psn);
        if (failed) {
            return;
        }
        if (ahead < 0) {
            drops.add(Drop.LATE, 1);
            return;
        }
        if (ahead > 0) {
            drops.add(Drop.MISSING, ahead);
            abandon();
        }
        expected = Psn.plus(psn, 1);
        int opcode = Bth.opcode(packet);
        if (RoceOpcode.beginsMessage(opcode)) {
            abandon(); // of one whose peer goes on with the next
        } else if (message != (RoceOpcode.isSend(opcode) ? Message.SEND : Message.WRITE)) {
            abandon();
            drops.add(Drop.INCOMPLETE, 1);
            return;
        }
        int payload = RocePacket.payloadLength(packet, length);
        if (hasWrongLength(opcode, payload)) {
            drop(Drop.WRONG_LENGTH);
        } else if (!target.serves(opcode)) {
            drop(Drop.ACCESS_REFUSED);
        } else if (RoceOpcode.isSend(opcode)) {
            onSend(packet, opcode, payload);
        } else {
            onWrite(packet, opcode, payload);
        }
    }

    /** True once the memory of a RECV could not be written: the queue pair has to go to error. */
    public boolean hasFailed() {
        return failed;
    }

    private boolean hasWrongLength(int opcode, int length) {
        if (length > transferUnit) {
            return true;
        }
        return RoceOpcode.endsMessage(opcode)
                ? length == 0 && !RoceOpcode.beginsMessage(opcode)
                : length != transferUnit;
    }

    private void onSend(long packet, int opcode, int length) {
        if (!target.hasReceive()) {
            drop(Drop.NO_RECEIVE);
        } else if (received + length > target.receiveLength()) {
            drop(Drop.TOO_LONG);
        } else if (length > 0 && !target.placeInReceive(received, packet + RoceOpcode.headerLength(opcode), length)) {
            target.failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR);
            failed = true;
        } else {
            message = Message.SEND;
            received += length;
            if (RoceOpcode.endsMessage(opcode)) {
                completeSend(packet, opcode);
            }
        }
    }

    private void completeSend(long packet, int opcode) {
        if (RoceOpcode.hasImmediate(opcode)) {
            target.completeImmediate(received, RocePacket.lastWord(packet), isSolicited(packet), false);
        } else {
            target.completeReceive(received, isSolicited(packet));
        }
        end();
    }

    private void onWrite(long packet, int opcode, int length) {
        if (RoceOpcode.hasReth(opcode)) {
            rkey = Reth.rkey(packet);
            address = Reth.address(packet);
            writeLength = Reth.messageLength(packet);
            if (writeLength > 0 && !target.mayWrite(rkey, address, writeLength)) {
                drop(Drop.ACCESS_REFUSED);
                return;
            }
            message = Message.WRITE;
        }
        boolean ends = RoceOpcode.endsMessage(opcode);
        long behind = received + length;
        if (ends ? behind != writeLength : behind >= writeLength) {
            drop(Drop.WRONG_LENGTH);
        } else if (RoceOpcode.hasImmediate(opcode) && !target.hasReceive()) {
            drop(Drop.NO_RECEIVE);
        } else if (length > 0
                && !target.write(rkey, address + received, packet + RoceOpcode.headerLength(opcode), length)) {
            drop(Drop.ACCESS_REFUSED);
        } else {
            received = behind;
            if (ends) {
                completeWrite(packet, opcode);
            }
        }
    }

    private void completeWrite(long packet, int opcode) {
        if (!target.completeWrite(received)) {
            drop(Drop.ACCESS_REFUSED);
            return;
        }
        if (RoceOpcode.hasImmediate(opcode)) {
            target.completeImmediate(received, RocePacket.lastWord(packet), isSolicited(packet), true);
        }
        end();
    }

    private static boolean isSolicited(long packet) {
        return (Bth.flags(packet) & Bth.SOLICITED) != 0;
    }

    /** The packet is dropped, and its message with it. */
    private void drop(Drop cause) {
        drops.add(cause, 1);
        target.abandonMessage();
        end();
    }

    private void abandon() {
        if (message != Message.NONE) {
            target.abandonMessage();
            end();
        }
    }

    private void end() {
        message = Message.NONE;
        received = 0;
    }
}
