package org.softrdma.kv.server.rdma;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.message.AnswerDescriptor;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.TouchReportDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * One client's queue pair at the server. It takes the hello (its owner may be known before), passes touch reports on
 * to the store, and has the {@link AnswerRing} for rgets.
 *
 * <p>RECVs are always posted. A queue pair that ends flushes them, and this completion reports every end. Belongs to
 * the agent {@link RdmaSessions} but for {@link #own} and {@link #disconnect}.
 */
final class RdmaSession {
    /** How far {@link #drain} has come. */
    enum Progress {
        /** No completion is left. */
        DRAINED,
        /** More may be left; other sessions have their turn first. */
        MORE,
        /** The queue pair has ended. */
        ENDED
    }

    private static final int RECEIVES = 2;

    /** Polls that bring completions before other sessions have their turn. */
    private static final int MOST_BATCHES = 16;

    /** A hello or a touch report. */
    private static final int RECEIVE_LENGTH = (TouchReportDescriptor.MAX_LENGTH + AnswerRing.SLOT_LENGTH - 1)
            / AnswerRing.SLOT_LENGTH
            * AnswerRing.SLOT_LENGTH;

    /**
     * Answers to the hello and to touch reports: one may be in the client's hands before our SEND counts as complete.
     */
    private static final int CONTROL_ANSWERS = 2;

    private static final long ANSWERS_OFFSET = (long) RECEIVES * RECEIVE_LENGTH;
    private static final long MEMORY_LENGTH =
            ANSWERS_OFFSET + (long) (AnswerRing.ANSWERS + CONTROL_ANSWERS) * AnswerRing.SLOT_LENGTH;
    private static final int SENDS = 2 * AnswerRing.ANSWERS + CONTROL_ANSWERS;

    private final RdmaService service;
    private final Admission admission;
    private final CloseStack owned = new CloseStack();
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final MemorySegment segment;
    private final QueuePair queuePair;
    private final AnswerRing answers;
    private final InetAddress peer;
    private final long acceptedNs;

    /** The owner: set before the peer knows of the queue pair, or by its first SEND. */
    private volatile @Nullable RdmaClient owner;

    /** The hello has come, and was answered. */
    private boolean greeted;

    private final TouchBudget touchBudget = new TouchBudget();
    private int nextControlAnswer;
    private int controlAnswersOutstanding;

    /** It is among those that have more to be handled. */
    private boolean unfinished;

    /** Makes the queue pair of a request with its RECVs posted; the caller accepts. */
    RdmaSession(RdmaResources resources, ConnectionRequest request, RdmaService service, Admission admission) {
        this.service = service;
        this.admission = admission;
        this.peer = request.remoteAddress().getAddress();
        this.acceptedNs = service.nowNs();
        boolean made = false;
        try {
            HostMemory memory = owned.add(resources.device().allocateMemory(MEMORY_LENGTH));
            segment = memory.segment();
            region = owned.add(
                    resources.domain().register(segment, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            completions = owned.add(resources.device().createCompletionQueue(SENDS + RECEIVES, resources.channel(), 0));
            queuePair = owned.add(request.createQueuePair(
                    resources.domain(), QueuePairAttributes.of(completions, QueuePairLimits.of(SENDS, RECEIVES))));
            answers = new AnswerRing(service, queuePair, region, segment, ANSWERS_OFFSET);
            for (int i = 0; i < RECEIVES; i++) {
                queuePair.postReceive(i, region, (long) i * RECEIVE_LENGTH, RECEIVE_LENGTH);
            }
            completions.requestNotification(false);
            made = true;
        } finally {
            if (!made) {
                owned.close();
            }
        }
    }

    /** The number of its queue pair. */
    int number() {
        return queuePair.number();
    }

    CompletionQueue completions() {
        return completions;
    }

    /** The answers to rgets. */
    AnswerRing answers() {
        return answers;
    }

    /** True once the hello was answered. By the agent. */
    boolean isGreeted() {
        return greeted;
    }

    long acceptedNs() {
        return acceptedNs;
    }

    /** The address of the client's end of the queue pair. */
    InetAddress peer() {
        return peer;
    }

    /** Why it has ended; {@link EndCause#UNKNOWN} before that. */
    EndCause endCause() {
        return queuePair.endCause();
    }

    /** Sets the owner. From now on the queue pair ends with its memcached connection, even if that has just ended. */
    void own(RdmaClient client) {
        owner = client;
        client.bind(answers);
    }

    /** The owner, or null. */
    @Nullable
    RdmaClient owner() {
        return owner;
    }

    /** Begins to disconnect; {@link #drain} reports the end. Any thread. */
    void disconnect() {
        answers.disconnect();
    }

    /** Notes whether it has more to be handled; returns whether it had before. The sessions' agent. */
    boolean unfinished(boolean now) {
        boolean before = unfinished;
        unfinished = now;
        return before;
    }

    /**
     * Handles completions, a bounded number.
     *
     * @param batch scratch
     */
    Progress drain(WorkCompletion[] batch) {
        for (int i = 0; i < MOST_BATCHES; i++) {
            int count = completions.poll(batch);
            if (count == 0) {
                return Progress.DRAINED;
            }
            if (!handle(batch, count)) {
                return Progress.ENDED;
            }
        }
        return Progress.MORE;
    }

    /** False once the queue pair has ended. */
    private boolean handle(WorkCompletion[] batch, int count) {
        for (int i = 0; i < count; i++) {
            if (!batch[i].isSuccess()) {
                return false;
            }
            if (batch[i].opcode().isReceive()) {
                if (!received(batch[i])) {
                    return false;
                }
            } else if (batch[i].wrId() < AnswerRing.ANSWERS) {
                answers.answered();
            } else {
                controlAnswersOutstanding--;
            }
        }
        return true;
    }

    /** Takes the hello, then touch reports; anything else is not in the protocol and ends the queue pair. */
    private boolean received(WorkCompletion completion) {
        long offset = completion.wrId() * RECEIVE_LENGTH;
        long length = completion.byteLength();
        boolean taken = greeted ? touched(offset, length, service.nowSeconds()) : greeted(offset, length);
        if (!taken) {
            return false;
        }
        queuePair.postReceive(completion.wrId(), region, offset, RECEIVE_LENGTH);
        return true;
    }

    /** Its token counts only if the owner is not known yet. */
    private boolean greeted(long offset, long length) {
        if (!HelloDescriptor.isValid(segment, offset, length)) {
            return false;
        }
        if (owner == null) {
            RdmaClient client = admission.claim(peer, HelloDescriptor.token(segment, offset));
            if (client == null) {
                return false;
            }
            own(client);
        }
        greeted = true;
        service.counters().boundQueuePairs.incrementAndGet();
        answers.open(); // before the client hears of it, and sends rgets
        return answerControl(AnswerDescriptor.BOUND, service.nowSeconds());
    }

    private boolean touched(long offset, long length, long nowSeconds) {
        if (!TouchReportDescriptor.isValid(segment, offset, length)) {
            return false;
        }
        RdmaCounters counters = service.counters();
        int count = TouchReportDescriptor.count(segment, offset);
        long allHits = TouchReportDescriptor.unnamedHits(segment, offset);
        for (int i = 0; i < count; i++) {
            int hits = TouchReportDescriptor.hits(segment, offset, i);
            if (hits < 1) {
                return false;
            }
            allHits += hits;
            if (touchBudget.takeRecord(nowSeconds)) {
                service.store()
                        .touched(
                                TouchReportDescriptor.first(segment, offset, i),
                                TouchReportDescriptor.generation(segment, offset, i),
                                hits,
                                nowSeconds);
            } else {
                counters.touchesRefused.increment();
            }
        }
        long counted = touchBudget.takeHits(allHits, nowSeconds);
        counters.getHits.add(counted);
        counters.hitsRefused.add(allHits - counted);
        counters.touchReports.increment();
        return answerControl(AnswerDescriptor.TOUCHED, nowSeconds);
    }

    /** False if the client sends more without waiting for answers. */
    private boolean answerControl(int status, long nowSeconds) {
        if (controlAnswersOutstanding == CONTROL_ANSWERS) {
            return false;
        }
        int slot = AnswerRing.ANSWERS + nextControlAnswer;
        nextControlAnswer = (nextControlAnswer + 1) % CONTROL_ANSWERS;
        controlAnswersOutstanding++;
        long answer = ANSWERS_OFFSET + (long) slot * AnswerRing.SLOT_LENGTH;
        int intervalSeconds = service.store().touchIntervalSeconds(nowSeconds);
        AnswerDescriptor.writeControl(segment, answer, status, nowSeconds, intervalSeconds);
        AnswerRing.requireAccepted(
                queuePair.postSend(slot, region, answer, AnswerDescriptor.LENGTH, SendFlags.SIGNALLED));
        return true;
    }

    /** Frees everything. By the agent, once {@link #drain} says that it has ended, or when nothing was accepted. */
    void end() {
        try {
            answers.end();
            owned.close();
        } finally {
            RdmaClient client = owner;
            if (client != null) {
                client.unbind(answers);
            }
        }
    }
}
