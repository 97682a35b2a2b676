package org.softrdma.sim.roce;

import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.LocalRequests;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.roce.rc.AnswerQueue;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.rc.ReadBudget;
import org.softrdma.sim.roce.rc.Requester;
import org.softrdma.sim.roce.rc.Responder;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.AtomicEth;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * One end of a reliable connection: its {@link Requester} and {@link Responder}, the memory that they act on, and the
 * packets that they want sent.
 */
final class ReliableEnd implements TransportEnd {
    /** Packets of each kind, answers and requests, before another connection has its turn. */
    private static final int PACKETS_PER_TURN = 32;

    private final SendQueue sends;
    private final Responder responder;
    private final AnswerQueue answers;
    private final LocalRequests local;
    private final LocalPayload payload;
    private final PeerTarget target;
    private final Counters<RoceCounter> counters;
    private final RocePath path;
    private final int peerQueuePair;
    /** The word of an atomic in this machine's byte order. */
    private final PacketMemory word;

    private final Requester requester;

    /** The peer knows that this side is ready. */
    private boolean mayRequest;

    /** The peer is to be asked whether it is there. */
    private boolean asks;

    private boolean over;
    private @Nullable CompletionStatus failure;
    private long culprit = Requester.NONE;

    private long retransmissions;
    private long timeouts;
    private long duplicates;
    private long outOfSequence;
    private long lateAnswers;
    private long skippingAnswers;
    private long answersWithoutRoom;
    private long slowdowns;

    /**
     * An end on which nothing was sent.
     *
     * @param engine of the connection
     * @param queuePair its queue pair
     * @param path to the peer
     * @param settings what was agreed on
     * @param sendPsn PSN with which this side begins
     * @param expectedPsn PSN with which the peer begins
     * @param peerQueuePair number of the peer's queue pair
     * @param counters of the engine's ports
     * @param reads what it may have on its way of answers
     */
    ReliableEnd(
            RnicEngine engine,
            QueuePairEnd queuePair,
            RocePath path,
            RcSettings settings,
            int sendPsn,
            int expectedPsn,
            int peerQueuePair,
            Counters<RoceCounter> counters,
            ReadBudget.Share reads) {
        this.path = path;
        this.peerQueuePair = peerQueuePair;
        this.counters = counters;
        sends = queuePair.sendQueue();
        local = queuePair.localRequests();
        payload = new LocalPayload(engine, sends, queuePair.domainNumber());
        target = new PeerTarget(engine, queuePair, local.windows());
        word = new PacketMemory(engine.memory(), Long.BYTES);
        requester = new Requester(sends, queuePair.limits().maxSendWorkRequests(), settings, sendPsn, reads);
        answers = new AnswerQueue(settings.inboundReads(), settings.transferUnit());
        responder = new Responder(target, settings, answers, expectedPsn);
    }

    /** Its first PSN is another than it was made with; nothing was sent. */
    void sendFrom(int startingPsn) {
        requester.startAt(startingPsn);
    }

    /** It sends and serves by other terms from now on. */
    void goOnBy(RcSettings settings) {
        requester.goOnBy(settings);
        responder.goOnBy(settings);
    }

    @Override
    public void allowRequests() {
        mayRequest = true;
    }

    @Override
    public void drain() {
        requester.drain();
    }

    @Override
    public void resume() {
        requester.resume();
    }

    @Override
    public boolean isDrained() {
        return requester.isDrained();
    }

    @Override
    public boolean ask() {
        asks = mayRequest && requester.isIdle();
        return asks;
    }

    @Override
    public void abandonRequests() {
        over = true;
        requester.abandon();
        local.abandon();
    }

    // ---- how it ends

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public @Nullable CompletionStatus failure() {
        return failure;
    }

    @Override
    public long culprit() {
        return culprit;
    }

    @Override
    public boolean isAccessRefused() {
        return target.isAccessRefused();
    }

    private void fail(long sequence, CompletionStatus status) {
        over = true;
        failure = status;
        culprit = sequence;
    }

    private void heedRequester() {
        CompletionStatus status = requester.failure();
        if (status != null && !over) {
            fail(requester.culprit(), status);
        }
    }

    // ---- what arrives

    @Override
    public void received(Arrival arrival, long packet, int length, long nowNs) {
        int opcode = Bth.opcode(packet);
        if (!RoceOpcode.isResponse(opcode)) {
            responder.onRequest(packet, length);
        } else if (opcode == RoceOpcode.ACKNOWLEDGE) {
            requester.onAcknowledgement(Bth.psn(packet), Aeth.syndrome(packet), nowNs);
        } else if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            if (requester.onAtomicResponse(Bth.psn(packet), nowNs)) {
                NativeMemory.putNativeLong(word.address(), AtomicEth.original(packet));
                place(word.address(), Long.BYTES, nowNs);
            }
        } else {
            int bytes = RocePacket.payloadLength(packet, length);
            if (requester.onReadResponse(opcode, Bth.psn(packet), bytes, nowNs)) {
                place(packet + RoceOpcode.headerLength(opcode), bytes, nowNs);
            }
        }
        heedRequester();
        count();
    }

    private void place(long source, int length, long nowNs) {
        long sequence = requester.responseSequence();
        if (payload.place(sends.slot(sequence), requester.responseOffset(), source, length)) {
            requester.responsePlaced(nowNs);
        } else {
            fail(sequence, CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    // ---- time

    @Override
    public long deadlineNs() {
        return over ? Long.MAX_VALUE : requester.deadlineNs();
    }

    @Override
    public void onTime(long nowNs) {
        requester.onTime(nowNs);
        heedRequester();
        count();
    }

    private void count() {
        counters.add(RoceCounter.RETRANSMITTED, requester.retransmissions() - retransmissions);
        counters.add(RoceCounter.TIMEOUTS, requester.timeouts() - timeouts);
        counters.add(RoceCounter.DUPLICATES, responder.duplicates() - duplicates);
        counters.add(RoceCounter.OUT_OF_SEQUENCE, responder.outOfSequence() - outOfSequence);
        counters.add(RoceCounter.LATE_ANSWERS, requester.lateAnswers() - lateAnswers);
        counters.add(RoceCounter.SKIPPING_ANSWERS, requester.skippingAnswers() - skippingAnswers);
        counters.add(RoceCounter.ANSWERS_WITHOUT_ROOM, answers.dropped() - answersWithoutRoom);
        counters.add(RoceCounter.SLOWDOWNS, requester.slowdowns() - slowdowns);
        lateAnswers = requester.lateAnswers();
        skippingAnswers = requester.skippingAnswers();
        answersWithoutRoom = answers.dropped();
        slowdowns = requester.slowdowns();
        retransmissions = requester.retransmissions();
        timeouts = requester.timeouts();
        duplicates = responder.duplicates();
        outOfSequence = responder.outOfSequence();
    }

    // ---- what is sent

    @Override
    public boolean fill(PacketStage stage, long nowNs) {
        boolean more = fillAnswers(stage);
        if (responder.hasFailed() && !answers.next()) {
            over = true; // the peer has been told
        }
        if (mayRequest && !over && !responder.hasFailed()) {
            more |= fillRequests(stage, nowNs);
            addQuestion(stage);
            heedRequester();
        }
        count();
        return more && !over;
    }

    /** Adds answers that are due, as many as a turn allows; true if there are more. */
    boolean fillAnswers(PacketStage stage) {
        for (int i = 0; i < PACKETS_PER_TURN && answers.next(); i++) {
            if (!stage.hasRoom()) {
                return true;
            }
            addAnswer(stage);
        }
        return answers.next();
    }

    private void addAnswer(PacketStage stage) {
        int opcode = answers.opcode();
        int length = answers.payloadLength();
        long at = stage.next();
        boolean begins = RoceOpcode.beginsMessage(opcode);
        if (length > 0) {
            long to = at + RoceOpcode.headerLength(opcode);
            if (!target.read(begins, answers.rkey(), answers.address(), to, length, answers.rest())) {
                refuseAnswer();
                return;
            }
        }
        Bth.put(at, opcode, Bth.MIGRATED, length, peerQueuePair, answers.psn());
        if (RoceOpcode.hasAeth(opcode)) {
            Aeth.put(at, answers.syndrome(), answers.msn());
        }
        if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            AtomicEth.putOriginal(at, answers.original());
        } else if (opcode == RoceOpcode.READ_RESPONSE_LAST || opcode == RoceOpcode.READ_RESPONSE_ONLY) {
            target.answered(answers.total(), answers.isRepeated());
        }
        RocePacket.putPad(at, opcode, length);
        answers.sent();
        stage.add(RocePacket.length(opcode, length), path);
    }

    /** The memory of the answer at hand cannot be read. */
    private void refuseAnswer() {
        if (target.ownerHasEnded()) {
            answers.clear();
            responder.fail();
        } else if (answers.refuseRest()) {
            responder.fail();
        }
    }

    private boolean fillRequests(PacketStage stage, long nowNs) {
        for (int i = 0; i < PACKETS_PER_TURN && !over; i++) {
            if (!requester.next(nowNs)) {
                return false;
            }
            boolean done = requester.isLocal() ? execute(nowNs) : stage.hasRoom() && addRequest(stage, nowNs);
            if (!done) {
                return !over && !stage.hasRoom();
            }
        }
        return true;
    }

    /** A request that sends nothing; false if it has to wait, or cannot be done. */
    private boolean execute(long nowNs) {
        if (!requester.isRepeated() && !local.windows().execute(requester.slot())) {
            failAtCursor(LocalRequests.failure(sends.opcode(requester.slot())));
            return false;
        }
        requester.sent(nowNs);
        return true;
    }

    /** The request at the cursor cannot be done. Those before it are completed first. */
    private void failAtCursor(CompletionStatus status) {
        long sequence = sends.cursor();
        if (sends.oldest() == sequence) {
            fail(sequence, status);
        }
    }

    /** Adds the packet that the requester has chosen; false if its memory may not be used. */
    private boolean addRequest(PacketStage stage, long nowNs) {
        int slot = requester.slot();
        int opcode = requester.operation();
        int length = requester.payloadLength();
        SendOpcode request = sends.opcode(slot);
        long at = stage.next();
        if (!mayUse(request, slot)
                || (length > 0
                        && !payload.copy(slot, requester.offset(), at + RoceOpcode.headerLength(opcode), length))) {
            failAtCursor(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return false;
        }
        boolean solicited = RoceOpcode.endsMessage(opcode) && sends.hasFlag(slot, SendFlags.SOLICITED);
        Bth.put(at, opcode, Bth.MIGRATED | (solicited ? Bth.SOLICITED : 0), length, peerQueuePair, requester.psn());
        if (requester.requestsAcknowledgement()) {
            Bth.requestAcknowledgement(at);
        }
        putHeaders(at, opcode, slot);
        RocePacket.putPad(at, opcode, length);
        requester.sent(nowNs);
        stage.add(RocePacket.length(opcode, length), path);
        return true;
    }

    private boolean mayUse(SendOpcode request, int slot) {
        if (request.isAnswered()) {
            return payload.maySink(slot);
        }
        return requester.offset() > 0 || payload.mayRead(slot);
    }

    private void addQuestion(PacketStage stage) {
        if (asks && stage.hasRoom() && requester.isIdle()) {
            int opcode = RoceOpcode.RC | RoceOpcode.WRITE_ONLY;
            long at = stage.next();
            Bth.put(at, opcode, Bth.MIGRATED, 0, peerQueuePair, requester.questionPsn());
            Bth.requestAcknowledgement(at);
            Reth.put(at, 0, 0, 0);
            stage.add(RocePacket.length(opcode, 0), path);
        }
        asks = false;
    }

    private void putHeaders(long at, int opcode, int slot) {
        if (RoceOpcode.hasReth(opcode)) {
            boolean read = opcode == RoceOpcode.READ_REQUEST;
            long total = read ? requester.rest() : sends.entries().total(slot);
            Reth.put(at, sends.remoteAddress(slot) + (read ? requester.offset() : 0), sends.rkey(slot), (int) total);
        }
        if (RoceOpcode.isAtomic(opcode)) {
            boolean add = opcode == RoceOpcode.FETCH_ADD;
            AtomicEth.put(
                    at,
                    sends.remoteAddress(slot),
                    sends.rkey(slot),
                    add ? sends.compareAdd(slot) : sends.swap(slot),
                    add ? 0 : sends.compareAdd(slot));
        }
        if (RoceOpcode.hasImmediate(opcode)) {
            RocePacket.putLastWord(at, opcode, sends.immediate(slot));
        } else if (RoceOpcode.hasInvalidate(opcode)) {
            RocePacket.putLastWord(at, opcode, sends.rkey(slot));
        }
    }
}
