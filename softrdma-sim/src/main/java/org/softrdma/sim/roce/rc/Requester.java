package org.softrdma.sim.roce.rc;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.sim.roce.wire.RnrTimer;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * The requester of a reliable connection (IBA volume 1, 9.7.3 to 9.7.8): numbers the packets of the send queue's
 * requests, completes requests as they are acknowledged, and goes back to what was lost.
 *
 * <p>To send: {@link #next} chooses a packet, whose fields its accessors give; once the packet is on its way, {@link
 * #sent} moves on. On arrival: {@link #onAcknowledgement}, or {@link #onReadResponse} or {@link #onAtomicResponse},
 * after which the caller puts the data where {@link #responseSequence} and {@link #responseOffset} say and calls {@link
 * #responsePlaced}. After each call {@link #failure} says whether the queue pair has to go to error.
 *
 * <p>Recovery is go-back-N: everything from the first missing packet on is sent again, READs from their first missing
 * byte. A long READ is asked for in parts, so that what is in flight finds room at this side's socket. Four things lead
 * back: a sequence NAK, an RNR NAK (after its time), an answer that skips one (an implied NAK), and a timeout, which
 * follows the {@link RoundTrip}; however short that is, retries are not used up sooner. Nothing leads back twice to the same packet, unless that was sent again meanwhile and the responder says
 * once more that it is missing, or what it answers does; or time has run out again.
 *
 * <p>How much is on its way at most is what the settings say, and what the {@link CongestionWindow} makes of the network.
 *
 * <p>PSNs of all that is in flight span less than half their circle, so a message has fewer than 2^22 packets: a longer one fails. A request
 * that is not sent to the peer (a bind or an invalidation of a window) takes no PSN; the caller executes it when {@link
 * #next} shows it, once. Engine thread only.
 */
public final class Requester {
    /** No request. */
    public static final long NONE = -1;

    private static final int MAX_SPAN = 1 << 22;
    private static final int NOTHING_MISSING = -1;
    private static final int NOBODY_ASKED = -1;
    private static final int ACKNOWLEDGEMENTS_PER_WINDOW = 4;

    private final SendQueue sends;
    private RcSettings settings;
    private final int acknowledgementInterval;
    private final RoundTrip roundTrip;
    private final CongestionWindow window;
    private final ReadBudget.Share reads;

    /** By slot: PSN of a request's first packet. */
    private final int[] firstPsns;

    /** Sequence behind the last request that has a PSN. */
    private long numbered;
    /** PSN of the next request that gets one. */
    private int nextPsn;
    /** PSN behind the last one that the peer may have seen. */
    private int sentPsn;
    /** The first PSN that is not acknowledged, or not answered. */
    private int unacknowledged;
    /** Sequence of the request that this PSN is of, or of the next one to get a PSN. */
    private long oldest;

    /** Packets of the request at the cursor that were sent; of a READ, those that need not be asked for again. */
    private int packet;
    /** Atomics and requests of READs, or of parts of them, that have no whole answer yet. */
    private int readsInFlight;
    /** PSNs behind their answers: a ring, from {@link #firstEnd} on. */
    private int[] answerEnds;

    private int firstEnd;
    /** PSNs of the answers to these that are still to come. */
    private int readPsns;

    /**
     * The answer to a packet is timed: its PSN, and when it was sent. Not timed is what is sent again after a timeout, since the
     * answer may be to an earlier copy (Karn's rule). What the peer has said to be missing is: its earlier copies have no answer.
     */
    private boolean isTiming;

    private int timedPsn;
    private long timedNs;
    private boolean timesCopy;
    /** Time has run out since the last progress. */
    private boolean hasRunOut;
    /** What is sent again now was missing. */
    private boolean timesCopies;

    /** The last PSN on its way to which an answer was asked for, since this side went back. */
    private int askedPsn = NOBODY_ASKED;

    private boolean waitsForReceiver;
    private long receiverReadyNs;
    private long progressNs;
    private int retriesLeft;
    /** There was a retry since the last progress, and when the last one that counts was. */
    private boolean hasRetried;

    private long retryNs;
    private int rnrRetriesLeft;
    /** To this PSN an implied NAK has led back already. */
    private int wentBackTo = NOTHING_MISSING;
    /** When what is missing was asked for again. */
    private long askedAgainNs;
    /** PSN of the last answer with data that skipped one. */
    private int lastSkipping;

    // The packet that next() has chosen.
    private int slot;
    private int packets;
    private SendOpcode opcode = SendOpcode.SEND;

    // The response that is being placed.
    private long responseOffset;
    private int responsePackets;
    private long responseCost;

    /** No request is begun. */
    private boolean drains;

    private @Nullable CompletionStatus failure;
    private long culprit = NONE;

    private long timeouts;
    private long retransmissions;
    private long lateAnswers;
    private long skippingAnswers;

    /**
     * A requester that has sent nothing. It begins with the request at the cursor.
     *
     * @param sends what to send
     * @param slots of the send queue
     * @param settings of the connection
     * @param startingPsn its first PSN, which the peer has chosen
     * @param reads what it may have on its way of answers
     */
    public Requester(SendQueue sends, int slots, RcSettings settings, int startingPsn, ReadBudget.Share reads) {
        this.reads = reads;
        this.sends = sends;
        this.settings = settings;
        firstPsns = new int[slots];
        answerEnds = new int[Math.max(1, settings.outboundReads())];
        roundTrip = new RoundTrip(settings.timeoutNs());
        window = new CongestionWindow(Math.max(settings.window(), settings.readWindow()), settings.fixed());
        acknowledgementInterval = Math.max(1, settings.window() / ACKNOWLEDGEMENTS_PER_WINDOW);
        numbered = sends.cursor();
        oldest = sends.cursor();
        startAt(startingPsn);
        retriesLeft = settings.retries();
        rnrRetriesLeft = settings.rnrRetries();
    }

    // ---- what to send

    /**
     * Chooses the next packet.
     *
     * @param nowNs the time
     * @return false if nothing may be sent now: nothing is posted, a limit is reached, or the receiver is not ready
     */
    public boolean next(long nowNs) {
        if (failure != null || !sends.hasUnsent() || isWaiting(nowNs)) {
            return false;
        }
        long sequence = sends.cursor();
        if (drains && sequence == numbered) {
            return false;
        }
        slot = sends.slot(sequence);
        opcode = sends.opcode(slot);
        if (isLocal()) {
            return !isFenced();
        }
        packets = packetsOf(slot);
        if (packets >= MAX_SPAN) {
            if (sends.oldest() == sequence) { // what is before it is completed first
                fail(sequence, CompletionStatus.LOCAL_LENGTH_ERROR);
            }
            return false;
        }
        if (sequence == numbered && Psn.distance(unacknowledged, nextPsn) + packets >= MAX_SPAN) {
            return false;
        }
        if (opcode.isAnswered()) {
            if (settings.outboundReads() == 0) {
                fail(sequence, CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
            }
            return readsInFlight < settings.outboundReads()
                    && (packet > 0 || !isFenced())
                    && (readPsns == 0 || readPsns + asked() <= readWindow())
                    && reads.admits(cost());
        }
        return (packet > 0 || !isFenced()) && (unacknowledgedPackets() < sendWindow() || !isAnswerDue());
    }

    /** The answer to a second one tells that one to the first is missing. */
    private int readWindow() {
        return readsInFlight == 1 ? settings.readWindow() : Math.min(settings.readWindow(), window.packets());
    }

    private int sendWindow() {
        return Math.min(settings.window(), window.packets());
    }

    /** Packets of SENDs and WRITEs before the chosen one. */
    private int unacknowledgedPackets() {
        return Psn.distance(unacknowledged, psn()) - readPsns;
    }

    /**
     * Something was asked for that will tell of all before it. If the window has become smaller than what is on its way, and nothing
     * was asked for there, one more packet goes, and asks.
     */
    private boolean isAnswerDue() {
        return askedPsn != NOBODY_ASKED && !Psn.isBefore(askedPsn, unacknowledged);
    }

    private boolean isWaiting(long nowNs) {
        if (waitsForReceiver && nowNs - receiverReadyNs >= 0) {
            waitsForReceiver = false;
            progressNs = nowNs;
        }
        return waitsForReceiver;
    }

    private boolean isFenced() {
        return readsInFlight > 0 && sends.hasFlag(slot, SendFlags.FENCE);
    }

    /**
     * Packets of the answer that the chosen packet asks for. A part always ends at the same packet, also after a way back: a
     * responder answers again only what lies within one request that it remembers.
     */
    private int asked() {
        int untilEnd = settings.readPackets() - packet % settings.readPackets();
        return opcode == SendOpcode.READ ? Math.min(packets - packet, untilEnd) : 1;
    }

    /** Of the answer that the chosen packet asks for. */
    private long cost() {
        return ReadBudget.Share.cost(rest(), asked());
    }

    private int packetsOf(int ofSlot) {
        return sends.opcode(ofSlot).isAtomic()
                ? 1
                : Psn.packets(sends.entries().total(ofSlot), settings.transferUnit());
    }

    /** True if the request at the cursor is not sent, but executed here: once, before {@link #sent}. */
    public boolean isLocal() {
        return opcode == SendOpcode.BIND_WINDOW || opcode == SendOpcode.INVALIDATE;
    }

    /** True if the request at the cursor was executed or sent before, and is met again on the way back. */
    public boolean isRepeated() {
        return sends.cursor() < numbered;
    }

    /** Slot of the chosen packet's request. */
    public int slot() {
        return slot;
    }

    /** Operation of the chosen packet. */
    public int operation() {
        return RoceOpcode.RC | MessageOpcodes.operation(opcode, packet == 0, isLast());
    }

    private boolean isLast() {
        return opcode.isAnswered() || packet == packets - 1;
    }

    /** PSN of the chosen packet. */
    public int psn() {
        return Psn.plus(sends.cursor() < numbered ? firstPsns[slot] : nextPsn, packet);
    }

    /** Offset of the chosen packet's payload in its message; of a READ, of the first byte that it asks for. */
    public long offset() {
        return (long) packet * settings.transferUnit();
    }

    /** Bytes of the message from {@link #offset} on; of a READ, those that this packet asks for. */
    public long rest() {
        long rest = sends.entries().total(slot) - offset();
        return opcode == SendOpcode.READ ? Math.min(rest, (long) asked() * settings.transferUnit()) : rest;
    }

    /** Bytes of the chosen packet's payload. */
    public int payloadLength() {
        return opcode.isAnswered() ? 0 : (int) Math.min(rest(), settings.transferUnit());
    }

    /** True if the chosen packet asks for an acknowledgement: at the end of a message, and often enough in a long one. */
    public boolean requestsAcknowledgement() {
        return isLast()
                || packet % acknowledgementInterval == acknowledgementInterval - 1
                || unacknowledgedPackets() + 1 >= sendWindow();
    }

    /** The chosen packet is on its way, or lost; or the chosen local request has been executed. */
    public void sent(long nowNs) {
        long sequence = sends.cursor();
        if (sequence == numbered) {
            firstPsns[slot] = nextPsn;
            numbered++;
            if (!isLocal()) {
                nextPsn = Psn.plus(nextPsn, packets);
            }
        }
        if (isLocal()) {
            sends.cursor(sequence + 1);
            sends.complete(sequence);
            skipCompleted();
            return;
        }
        if (unacknowledged == sentPsn || psn() == unacknowledged) {
            progressNs = nowNs;
        }
        int answeredPsn = psn();
        boolean isAnswered = requestsAcknowledgement();
        int behind;
        if (opcode.isAnswered()) {
            int count = asked();
            reads.take(cost());
            packet += count;
            behind = Psn.plus(firstPsns[slot], packet);
            answerEnds[(firstEnd + readsInFlight) % answerEnds.length] = behind;
            readsInFlight++;
            readPsns += count;
        } else {
            packet++;
            behind = Psn.plus(firstPsns[slot], packet);
        }
        if (isAnswered) {
            askedPsn = Psn.plus(behind, -1);
        }
        if (answeredPsn == wentBackTo) {
            askedAgainNs = nowNs;
        }
        boolean isCopy = !Psn.isBefore(sentPsn, behind);
        if (isCopy) {
            retransmissions++;
        } else {
            sentPsn = behind;
        }
        if (isAnswered && !isTiming && (timesCopies || !isCopy)) {
            isTiming = true;
            timesCopy = isCopy;
            timedPsn = answeredPsn;
            timedNs = nowNs;
        }
        if (packet == packets) {
            sends.cursor(sequence + 1);
            packet = 0;
        }
    }

    /** Its first PSN is another than it was made with; nothing was sent. */
    public void startAt(int startingPsn) {
        nextPsn = startingPsn;
        sentPsn = startingPsn;
        unacknowledged = startingPsn;
    }

    /**
     * Goes on by other terms, also with what is on its way.
     *
     * @param changed READs in flight, times and retries; the rest is as it was
     */
    public void goOnBy(RcSettings changed) {
        if (changed.outboundReads() > answerEnds.length) {
            int[] more = new int[changed.outboundReads()];
            for (int i = 0; i < readsInFlight; i++) {
                more[i] = answerEnds[(firstEnd + i) % answerEnds.length];
            }
            answerEnds = more;
            firstEnd = 0;
        }
        settings = changed;
        roundTrip.limit(changed.timeoutNs());
        retriesLeft = changed.retries();
        rnrRetriesLeft = changed.rnrRetries();
    }

    /** Begins no request from now on; what was begun is sent again as ever. */
    public void drain() {
        drains = true;
    }

    /** Begins requests again. */
    public void resume() {
        drains = false;
    }

    /** True if every request that was begun is complete. */
    public boolean isDrained() {
        return oldest == numbered;
    }

    /** True if nothing is on its way that a timeout watches. */
    public boolean isIdle() {
        return unacknowledged == sentPsn;
    }

    /** PSN of a question whether the peer is there: that of its last packet, as if it were sent again. */
    public int questionPsn() {
        return Psn.plus(unacknowledged, -1);
    }

    // ---- what arrives

    /**
     * An acknowledgement, or a negative one.
     *
     * @param psn its PSN
     * @param syndrome of its {@link Aeth}
     * @param nowNs the time
     */
    public void onAcknowledgement(int psn, int syndrome, long nowNs) {
        if (isGhost(psn)) {
            return;
        }
        if (Aeth.isAcknowledged(syndrome)) {
            acknowledge(Psn.plus(psn, 1), nowNs);
        } else if (Aeth.isReceiverNotReady(syndrome)) {
            if (acknowledge(psn, nowNs)) {
                onReceiverNotReady(psn, Aeth.value(syndrome), nowNs);
            }
        } else if (syndrome == Aeth.SEQUENCE_ERROR) {
            if (acknowledge(psn, nowNs)) {
                onSequenceError(psn, nowNs);
            }
        } else if (acknowledge(psn, nowNs)) {
            fail(oldest, statusOf(syndrome));
        }
    }

    /** True if nothing with that PSN is unacknowledged: an answer to an earlier copy, or an invention. */
    private boolean isGhost(int psn) {
        boolean ghost = failure != null || Psn.isBefore(psn, unacknowledged) || !Psn.isBefore(psn, sentPsn);
        lateAnswers += ghost ? 1 : 0;
        return ghost;
    }

    private static CompletionStatus statusOf(int syndrome) {
        return switch (syndrome) {
            case Aeth.INVALID_REQUEST -> CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
            case Aeth.REMOTE_ACCESS_ERROR -> CompletionStatus.REMOTE_ACCESS_ERROR;
            case Aeth.REMOTE_OPERATIONAL_ERROR -> CompletionStatus.REMOTE_OPERATION_ERROR;
            default -> CompletionStatus.BAD_RESPONSE_ERROR;
        };
    }

    /**
     * Everything before a PSN has arrived at the responder.
     *
     * @return false if a READ or atomic before it has had no answer, which is sent again, or if the queue pair has failed
     */
    private boolean acknowledge(int behind, long nowNs) {
        while (Psn.isBefore(unacknowledged, behind)) {
            int ofSlot = sends.slot(oldest);
            if (sends.opcode(ofSlot).isAnswered()) {
                skippingAnswers++;
                onImpliedNak(nowNs);
                return false;
            }
            int end = Psn.plus(firstPsns[ofSlot], packetsOf(ofSlot));
            if (Psn.isBefore(behind, end)) {
                progress(behind, nowNs);
            } else {
                progress(end, nowNs);
                completeOldest();
            }
        }
        return true;
    }

    private void progress(int behind, long nowNs) {
        window.acknowledged(Psn.distance(unacknowledged, behind), nowNs);
        unacknowledged = behind;
        progressNs = nowNs;
        if (isTiming && Psn.isBefore(timedPsn, behind)) {
            roundTrip.measured(nowNs - timedNs);
            if (!timesCopy) {
                window.measured(nowNs - timedNs, nowNs);
            }
            isTiming = false;
        }
        hasRunOut = false;
        retriesLeft = settings.retries();
        hasRetried = false;
        rnrRetriesLeft = settings.rnrRetries();
        wentBackTo = NOTHING_MISSING;
        waitsForReceiver = false;
        while (readsInFlight > 0 && !Psn.isBefore(behind, answerEnds[firstEnd])) {
            firstEnd = (firstEnd + 1) % answerEnds.length;
            readsInFlight--;
        }
        if (Psn.isBefore(cursorPsn(), behind)) {
            moveForward(behind);
        }
    }

    /** PSN of the next packet in order, whether or not it may be sent. */
    private int cursorPsn() {
        long sequence = sends.cursor();
        return sequence < numbered ? Psn.plus(firstPsns[sends.slot(sequence)], packet) : nextPsn;
    }

    /** What was to be sent again up to a PSN of the oldest request has arrived after all. */
    private void moveForward(int behind) {
        int ofSlot = sends.slot(oldest);
        sends.cursor(oldest);
        packet = Psn.distance(firstPsns[ofSlot], behind);
        readsInFlight = 0;
        readPsns = 0;
        reads.giveAll();
        askedPsn = NOBODY_ASKED;
        if (packet == packetsOf(ofSlot)) {
            sends.cursor(oldest + 1);
            packet = 0;
        }
    }

    private void completeOldest() {
        long sequence = oldest;
        if (sends.cursor() <= sequence) {
            throw new IllegalStateException("request " + sequence + " is complete before it was sent");
        }
        oldest++;
        sends.complete(sequence);
        skipCompleted();
    }

    /** Local requests behind the oldest one have been executed, and are not met again. */
    private void skipCompleted() {
        while (oldest < numbered && isLocal(sends.opcode(sends.slot(oldest)))) {
            if (sends.cursor() == oldest) {
                sends.cursor(oldest + 1);
            }
            oldest++;
        }
    }

    private static boolean isLocal(SendOpcode opcode) {
        return opcode == SendOpcode.BIND_WINDOW || opcode == SendOpcode.INVALIDATE;
    }

    private void onSequenceError(int psn, long nowNs) {
        if (waitsForReceiver || cursorPsn() == psn) {
            return; // SoftRoCE sends one for what follows an RNR NAK; or this side is on its way back already
        }
        window.lost(nowNs);
        retry(nowNs);
    }

    private void onImpliedNak(long nowNs) {
        boolean isAskedFor = wentBackTo == unacknowledged && nowNs - askedAgainNs <= roundTrip.longestNs();
        if (isAskedFor || cursorPsn() == unacknowledged) {
            return; // the answer is on its way still, or is about to be asked for
        }
        window.lost(nowNs);
        if (retry(nowNs)) {
            wentBackTo = unacknowledged;
        }
    }

    private void onReceiverNotReady(int psn, int timer, long nowNs) {
        if (waitsForReceiver || cursorPsn() == psn) {
            return;
        }
        if (rnrRetriesLeft == 0) {
            fail(oldest, CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR);
            return;
        }
        rnrRetriesLeft -= settings.rnrRetries() == RcSettings.FOR_EVER ? 0 : 1;
        waitsForReceiver = true;
        receiverReadyNs = nowNs + RnrTimer.nanos(timer);
        goBack();
    }

    /** Counts at most once in the time of a timeout: where packets overtake each other, a peer asks again and again. */
    private boolean retry(long nowNs) {
        if (!hasRetried || nowNs - retryNs >= settings.timeoutNs()) {
            if (retriesLeft == 0) {
                fail(oldest, CompletionStatus.RETRY_EXCEEDED_ERROR);
                return false;
            }
            retriesLeft--;
            hasRetried = true;
            retryNs = nowNs;
        }
        progressNs = nowNs;
        goBack();
        return true;
    }

    /** To the first PSN that is not acknowledged. */
    private void goBack() {
        sends.cursor(oldest);
        packet = Psn.distance(firstPsns[sends.slot(oldest)], unacknowledged);
        readsInFlight = 0;
        readPsns = 0;
        reads.giveAll();
        askedPsn = NOBODY_ASKED;
        isTiming = false; // nobody would know of which copy an answer is
        timesCopies = !hasRunOut;
    }

    // ---- answers with data

    /**
     * A packet of the answer to a READ.
     *
     * @param packetOpcode its opcode
     * @param psn its PSN
     * @param length bytes of its payload
     * @param nowNs the time
     * @return true if its payload is to be placed; then {@link #responsePlaced} follows
     */
    public boolean onReadResponse(int packetOpcode, int psn, int length, long nowNs) {
        if (!isAnswer(psn, nowNs)) {
            return false;
        }
        int ofSlot = sends.slot(oldest);
        int index = Psn.distance(firstPsns[ofSlot], psn);
        int last = packetsOf(ofSlot) - 1;
        long total = sends.entries().total(ofSlot);
        long offset = (long) index * settings.transferUnit();
        long expected = index == last ? total - offset : settings.transferUnit();
        // An answer that was asked for from its middle begins there.
        boolean begins = RoceOpcode.beginsMessage(packetOpcode);
        boolean isRead = sends.opcode(ofSlot) == SendOpcode.READ;
        boolean ends = RoceOpcode.endsMessage(packetOpcode);
        boolean isEnd = index == last || (index + 1) % settings.readPackets() == 0;
        if (!isRead || length != expected || ends != isEnd || (index == 0 && !begins)) {
            fail(oldest, CompletionStatus.BAD_RESPONSE_ERROR);
            return false;
        }
        responseOffset = offset;
        responsePackets = 1;
        responseCost = ReadBudget.Share.cost(length, 1);
        return true;
    }

    /** An answer to an atomic; parameters and result as of {@link #onReadResponse}. */
    public boolean onAtomicResponse(int psn, long nowNs) {
        if (!isAnswer(psn, nowNs)) {
            return false;
        }
        if (!sends.opcode(sends.slot(oldest)).isAtomic()) {
            fail(oldest, CompletionStatus.BAD_RESPONSE_ERROR);
            return false;
        }
        responseOffset = 0;
        responsePackets = 1;
        responseCost = ReadBudget.Share.cost(Long.BYTES, 1);
        return true;
    }

    /** True if an answer is the next one to the oldest request, or becomes so by acknowledging what is before it. */
    private boolean isAnswer(int psn, long nowNs) {
        if (isGhost(psn)) {
            return false;
        }
        // Answers to one copy come in order: with this one, those to the next copy have begun, and have lost the same.
        if (Psn.isBefore(psn, lastSkipping)) {
            wentBackTo = NOTHING_MISSING;
        }
        if (!acknowledge(psn, nowNs)) {
            lastSkipping = psn;
            return false;
        }
        if (!sends.opcode(sends.slot(oldest)).isAnswered()) {
            fail(oldest, CompletionStatus.BAD_RESPONSE_ERROR); // data for a SEND or WRITE
            return false;
        }
        return true;
    }

    /** Sequence of the request whose answer is to be placed. */
    public long responseSequence() {
        return oldest;
    }

    /** Where in the request's local memory the answer begins. */
    public long responseOffset() {
        return responseOffset;
    }

    /** The answer is in its place. */
    public void responsePlaced(long nowNs) {
        int ofSlot = sends.slot(oldest);
        int behind = Psn.plus(unacknowledged, responsePackets);
        boolean asked = !Psn.isBefore(cursorPsn(), behind);
        if (asked) {
            readPsns -= responsePackets;
            reads.give(responseCost);
        }
        progress(behind, nowNs);
        if (behind == Psn.plus(firstPsns[ofSlot], packetsOf(ofSlot))) {
            completeOldest();
        }
    }

    // ---- time

    /** When {@link #onTime} is due, or {@link Long#MAX_VALUE} for never. */
    public long deadlineNs() {
        if (failure != null) {
            return Long.MAX_VALUE;
        }
        if (waitsForReceiver) {
            return receiverReadyNs;
        }
        return isTimed() ? progressNs + roundTrip.timeoutNs() : Long.MAX_VALUE;
    }

    /** Something is on its way. What was lost and waits for room to be asked for again is not. */
    private boolean isTimed() {
        boolean waitsForRoom = reads.waits() && cursorPsn() == unacknowledged;
        return unacknowledged != sentPsn && !waitsForRoom && settings.timeoutNs() > 0;
    }

    /** Goes back if nothing has been heard for too long. Called at {@link #deadlineNs} or whenever it is convenient. */
    public void onTime(long nowNs) {
        if (isWaiting(nowNs) || failure != null || !isTimed()) {
            return;
        }
        if (nowNs - progressNs >= roundTrip.timeoutNs()) {
            timeouts++;
            hasRunOut = true;
            roundTrip.ranOut();
            window.ranOut(nowNs);
            wentBackTo = NOTHING_MISSING;
            boolean ignored = retry(nowNs);
        }
    }

    // ---- ends

    private void fail(long sequence, CompletionStatus status) {
        failure = status;
        culprit = sequence;
        abandon();
    }

    /** Nothing is sent any more. */
    public void abandon() {
        reads.giveAll();
    }

    /** Why the queue pair has to go to error, or null if it need not. */
    public @Nullable CompletionStatus failure() {
        return failure;
    }

    /** Sequence of the request that has failed, or {@link #NONE}. */
    public long culprit() {
        return culprit;
    }

    /** How often time has run out. */
    public long timeouts() {
        return timeouts;
    }

    /** Answers that were dropped, because what they answer was answered before, or never asked. */
    public long lateAnswers() {
        return lateAnswers;
    }

    /** Answers that were dropped, because one with data is missing before them. */
    public long skippingAnswers() {
        return skippingAnswers;
    }

    /** Packets that may be on their way, for tests. */
    int window() {
        return window.packets();
    }

    /** How often the window became smaller. */
    public long slowdowns() {
        return window.decreases();
    }

    /** Packets sent more than once. */
    public long retransmissions() {
        return retransmissions;
    }
}
