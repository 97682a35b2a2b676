package org.softrdma.sim.roce.rc;

import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.AtomicEth;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;

/**
 * The responder of a reliable connection (IBA volume 1, 9.7.4 and 9.7.5): executes the peer's requests in the order of
 * their PSNs, each once, and says which answers are due.
 *
 * <p>A packet behind the expected one is dropped, and the first missing one is asked for once; again if the requester has
 * gone back, and has lost it once more. When such a gap closes, an acknowledgement goes at once, since SoftRoCE as a
 * requester heeds no other NAK before one. A packet before the expected one is a repetition: a SEND or WRITE is
 * acknowledged, a READ is executed again, an atomic is answered from memory. What is wrong with an expected packet is
 * refused by a NAK, and the connection fails; if the process whose memory it is about has ended, in silence.
 *
 * <p>Answers wait in {@link AnswerQueue} in the order of the requests; acknowledgements join. Engine thread only.
 */
public final class Responder {
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final ResponderTarget target;
    private RcSettings settings;
    private final AnswerQueue answers;
    private ReplayRing replays;

    private int expected;
    private int msn;

    /** A sequence NAK was sent, and the packet that it asks for has not come. */
    private boolean sequenceNakSent;
    /** The last packet dropped since. */
    private int lastDropped;
    /** An RNR NAK was sent, and the packet that it refuses has not come again. */
    private boolean receiverWasNotReady;

    private boolean failed;

    // The message being received.
    private Message message = Message.NONE;
    private long received;
    private int rkey;
    private long address;
    private long writeLength;

    private long duplicates;
    private long outOfSequence;

    /**
     * A responder that has received nothing.
     *
     * @param target what requests act on
     * @param settings of the connection
     * @param answers where answers wait
     * @param startingPsn the peer's first PSN, which this side has chosen
     */
    public Responder(ResponderTarget target, RcSettings settings, AnswerQueue answers, int startingPsn) {
        this.target = target;
        this.settings = settings;
        this.answers = answers;
        replays = new ReplayRing(settings.inboundReads());
        expected = startingPsn;
    }

    /**
     * Goes on by other terms.
     *
     * @param changed READs of the peer in flight, and the time that it waits for a RECV; the rest is as it was
     */
    public void goOnBy(RcSettings changed) {
        if (changed.inboundReads() != settings.inboundReads()) {
            answers.allow(changed.inboundReads());
            replays = new ReplayRing(changed.inboundReads(), replays);
        }
        settings = changed;
    }

    /**
     * A request of the peer, which has been checked: its lengths, ICRC, partition and source.
     *
     * @param packet where its BTH is
     * @param length its bytes
     */
    public void onRequest(long packet, int length) {
        if (failed) {
            return;
        }
        int psn = Bth.psn(packet);
        if (psn == expected) {
            onExpected(packet, RocePacket.payloadLength(packet, length));
        } else if (Psn.isBefore(expected, psn)) {
            onGap(psn);
        } else {
            onDuplicate(packet, psn);
        }
    }

    /** True once a request was refused: the queue pair has to go to error after the answers that are due. */
    public boolean hasFailed() {
        return failed;
    }

    /** A request that was taken cannot be answered any more: nothing else is. */
    public void fail() {
        failed = true;
    }

    /** The PSN of the next request packet. */
    public int expected() {
        return expected;
    }

    /** Packets that repeated one that was executed. */
    public long duplicates() {
        return duplicates;
    }

    /** Packets behind one that is missing. */
    public long outOfSequence() {
        return outOfSequence;
    }

    // ---- out of order

    private void onGap(int psn) {
        outOfSequence++;
        if (receiverWasNotReady) {
            return;
        }
        if (!sequenceNakSent || !Psn.isBefore(lastDropped, psn)) {
            sequenceNakSent = true;
            answers.nak(expected, Aeth.SEQUENCE_ERROR, msn);
        }
        lastDropped = psn;
    }

    private void onDuplicate(long packet, int psn) {
        duplicates++;
        int opcode = Bth.opcode(packet);
        if (opcode == RoceOpcode.READ_REQUEST) {
            onDuplicateRead(packet, psn);
        } else if (RoceOpcode.isAtomic(opcode)) {
            int slot = replays.findAtomic(psn);
            if (slot != ReplayRing.NONE) {
                answers.atomicAgain(psn, replays.original(slot), msn);
            }
        } else {
            answers.acknowledge(Psn.plus(expected, -1), msn);
        }
    }

    private void onDuplicateRead(long packet, int psn) {
        long length = Reth.messageLength(packet);
        int key = Reth.rkey(packet);
        long from = Reth.address(packet);
        if (replays.findRead(psn, key, from, length, settings.transferUnit()) == ReplayRing.NONE) {
            return;
        }
        if (length > 0 && !target.mayRead(key, from, length)) {
            // Taken back since, perhaps because the peer has its answer: that was no fault, and its requester ignores
            // this.
            answers.nak(psn, Aeth.REMOTE_ACCESS_ERROR, msn);
        } else {
            answers.readAgain(psn, key, from, length, msn);
        }
    }

    // ---- in order

    private void onExpected(long packet, int length) {
        int opcode = Bth.opcode(packet);
        boolean inMessage = message != Message.NONE;
        boolean begins = RoceOpcode.beginsMessage(opcode);
        boolean continues = RoceOpcode.isSend(opcode) ? message == Message.SEND : message == Message.WRITE;
        boolean isOutOfPlace = begins == inMessage || (!begins && !continues);
        if (isOutOfPlace || hasWrongLength(opcode, length) || !target.serves(opcode)) {
            refuse(expected, Aeth.INVALID_REQUEST);
        } else if (RoceOpcode.isSend(opcode)) {
            onSend(packet, opcode, length);
        } else if (RoceOpcode.isWrite(opcode)) {
            onWrite(packet, opcode, length);
        } else if (opcode == RoceOpcode.READ_REQUEST) {
            onRead(packet);
        } else {
            onAtomic(packet, opcode);
        }
    }

    private boolean hasWrongLength(int opcode, int length) {
        boolean ends = RoceOpcode.endsMessage(opcode);
        if (length > settings.transferUnit()) {
            return true;
        }
        return ends ? length == 0 && !RoceOpcode.beginsMessage(opcode) : length != settings.transferUnit();
    }

    private void onSend(long packet, int opcode, int length) {
        if (!hasReceive()) {
            return;
        }
        if (received + length > target.receiveLength()) {
            target.failReceive(CompletionStatus.LOCAL_LENGTH_ERROR);
            refuse(expected, Aeth.INVALID_REQUEST);
            return;
        }
        if (length > 0 && !target.placeInReceive(received, packet + RoceOpcode.headerLength(opcode), length)) {
            target.failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR);
            refuse(expected, Aeth.REMOTE_OPERATIONAL_ERROR);
            return;
        }
        message = Message.SEND;
        received += length;
        if (RoceOpcode.endsMessage(opcode) && !completeSend(packet, opcode)) {
            return;
        }
        executed(packet, 1);
    }

    private boolean completeSend(long packet, int opcode) {
        boolean solicited = (Bth.flags(packet) & Bth.SOLICITED) != 0;
        long total = received;
        if (RoceOpcode.hasInvalidate(opcode)) {
            int key = RocePacket.lastWord(packet);
            if (!target.invalidate(key)) {
                target.failReceive(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
                refuse(expected, Aeth.REMOTE_ACCESS_ERROR); // SoftRoCE acknowledges it, and ends in silence
                return false;
            }
            target.completeInvalidating(total, solicited, key);
        } else if (RoceOpcode.hasImmediate(opcode)) {
            target.completeImmediate(total, RocePacket.lastWord(packet), solicited, false);
        } else {
            target.completeReceive(total, solicited);
        }
        endMessage();
        return true;
    }

    private void onWrite(long packet, int opcode, int length) {
        boolean ends = RoceOpcode.endsMessage(opcode);
        if (RoceOpcode.hasImmediate(opcode) && !hasReceive()) {
            return;
        }
        if (RoceOpcode.hasReth(opcode) && !beginWrite(packet)) {
            return;
        }
        long behind = received + length;
        if (ends ? behind != writeLength : behind >= writeLength) {
            refuse(expected, Aeth.INVALID_REQUEST);
            return;
        }
        long payload = packet + RoceOpcode.headerLength(opcode);
        if (length > 0 && !target.write(rkey, address + received, payload, length)) {
            refuse(expected, Aeth.REMOTE_ACCESS_ERROR);
            return;
        }
        received = behind;
        if (ends) {
            if (!target.completeWrite(received)) {
                refuse(expected, Aeth.REMOTE_ACCESS_ERROR);
                return;
            }
            if (RoceOpcode.hasImmediate(opcode)) {
                boolean solicited = (Bth.flags(packet) & Bth.SOLICITED) != 0;
                target.completeImmediate(received, RocePacket.lastWord(packet), solicited, true);
            }
            endMessage();
        }
        executed(packet, 1);
    }

    private boolean beginWrite(long packet) {
        rkey = Reth.rkey(packet);
        address = Reth.address(packet);
        writeLength = Reth.messageLength(packet);
        if (writeLength > 0 && !target.mayWrite(rkey, address, writeLength)) {
            refuse(expected, Aeth.REMOTE_ACCESS_ERROR);
            return false;
        }
        message = Message.WRITE;
        return true;
    }

    private void onRead(long packet) {
        long length = Reth.messageLength(packet);
        int key = Reth.rkey(packet);
        long from = Reth.address(packet);
        if (settings.inboundReads() == 0 || answers.answersWithData() >= settings.inboundReads()) {
            refuse(expected, Aeth.INVALID_REQUEST);
        } else if (length > 0 && !target.mayRead(key, from, length)) {
            refuse(expected, Aeth.REMOTE_ACCESS_ERROR);
        } else {
            int packets = Psn.packets(length, settings.transferUnit());
            replays.addRead(expected, packets, key, from, length);
            msn++;
            answers.read(expected, key, from, length, msn);
            moveOn(packets);
        }
    }

    private void onAtomic(long packet, int opcode) {
        int key = AtomicEth.rkey(packet);
        long word = AtomicEth.address(packet);
        if ((word & Long.BYTES - 1) != 0
                || settings.inboundReads() == 0
                || answers.answersWithData() >= settings.inboundReads()) {
            refuse(expected, Aeth.INVALID_REQUEST);
        } else if (!target.mayChangeWord(key, word)) {
            refuse(expected, Aeth.REMOTE_ACCESS_ERROR);
        } else {
            executeAtomic(packet, opcode, key, word);
        }
    }

    private void executeAtomic(long packet, int opcode, int key, long word) {
        long operand = AtomicEth.operand(packet);
        boolean done = opcode == RoceOpcode.FETCH_ADD
                ? target.fetchAndAdd(key, word, operand)
                : target.compareAndSwap(key, word, AtomicEth.compare(packet), operand);
        if (!done) {
            refuse(expected, Aeth.REMOTE_ACCESS_ERROR);
            return;
        }
        replays.addAtomic(expected, target.original());
        msn++;
        answers.atomic(expected, target.original(), msn);
        moveOn(1);
    }

    /** True if a RECV is there; else the peer is asked to come again later, and nothing has changed. */
    private boolean hasReceive() {
        if (target.hasReceive()) {
            return true;
        }
        receiverWasNotReady = true;
        answers.nak(expected, Aeth.receiverNotReady(settings.rnrTimer()), msn);
        return false;
    }

    private void endMessage() {
        message = Message.NONE;
        received = 0;
        msn++;
    }

    private void executed(long packet, int packets) {
        int psn = expected;
        boolean closesGap = sequenceNakSent;
        moveOn(packets);
        if (closesGap || Bth.isAcknowledgementRequested(packet)) {
            answers.acknowledge(psn, msn);
        }
    }

    private void moveOn(int packets) {
        expected = Psn.plus(expected, packets);
        sequenceNakSent = false;
        receiverWasNotReady = false;
    }

    private void refuse(int psn, int syndrome) {
        if (!target.ownerHasEnded()) {
            answers.nak(psn, syndrome, msn);
        }
        failed = true;
    }
}
