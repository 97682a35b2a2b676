package org.softrdma.bench.message;

import java.util.EnumSet;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * WRITEs answered by WRITEs, {@link PolledSlots}. Requests come one after the other, so this looks at the slot of the next one only. An
 * answer is written from a slot of its own that is not used again before a later answer's completion.
 */
final class PolledEcho implements EchoConnection {
    private final QueuePair queuePair;
    private final RegisteredMemory inbox;
    private final RegisteredMemory outbox;
    private final EchoTerms terms;
    private final RemoteRegion peer;
    private final int index;
    private final int slots;
    private final int signalInterval;
    private long answers;
    private long completed;

    private PolledEcho(
            QueuePair queuePair,
            RegisteredMemory inbox,
            RegisteredMemory outbox,
            EchoTerms terms,
            RemoteRegion peer,
            int index) {
        this.queuePair = queuePair;
        this.inbox = inbox;
        this.outbox = outbox;
        this.terms = terms;
        this.peer = peer;
        this.index = index;
        slots = EchoConnection.slots(terms.window(), terms.answer());
        signalInterval = EchoConnection.signalInterval(terms.window(), terms.answer());
    }

    /** Makes a queue pair, and memory for requests. */
    static PolledEcho of(EchoParts parts, ConnectionRequest request, EchoTerms terms, RemoteRegion peer, int index) {
        int slots = EchoConnection.slots(terms.window(), terms.answer());
        RegisteredMemory inbox = new RegisteredMemory(
                parts.device(),
                parts.domain(),
                terms.window() * PolledSlots.REQUEST_SLOT,
                EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.POLLED));
        RegisteredMemory outbox;
        try {
            outbox = new RegisteredMemory(
                    parts.device(), parts.domain(), slots * terms.answer(), EnumSet.of(AccessFlag.LOCAL_WRITE));
        } catch (RuntimeException e) {
            inbox.close();
            throw e;
        }
        try {
            for (int i = 0; i < slots; i++) {
                PolledSlots.fill(outbox.segment().asSlice(i * terms.answer(), terms.answer()), i);
            }
            QueuePair queuePair = request.createQueuePair(
                    parts.domain(), QueuePairAttributes.of(parts.completions(), QueuePairLimits.of(slots, 1)));
            return new PolledEcho(queuePair, inbox, outbox, terms, peer, index);
        } catch (RuntimeException e) {
            outbox.close();
            inbox.close();
            throw e;
        }
    }

    @Override
    public void look() {
        while (answers - completed < slots
                && PolledSlots.has(
                        inbox.segment(),
                        PolledSlots.slot(answers + 1, terms.window()) * PolledSlots.REQUEST_SLOT,
                        answers + 1)) {
            answer();
        }
    }

    private void answer() {
        long slot = answers % slots;
        int flags = answers % signalInterval == signalInterval - 1 ? SendFlags.SIGNALLED : 0;
        answers++;
        long at = slot * terms.answer();
        PolledSlots.put(outbox.segment(), at + terms.answer() - Long.BYTES, answers);
        MessageLoad.require(queuePair.postWrite(
                EchoConnection.wrId(index, slot),
                outbox.region(),
                at,
                terms.answer(),
                peer.address() + PolledSlots.slot(answers, terms.window()) * terms.answer(),
                peer.rkey(),
                flags));
    }

    @Override
    public void take(WorkCompletion completion) {
        completed += signalInterval;
    }

    @Override
    public EchoTerms terms() {
        return terms;
    }

    @Override
    public byte[] welcome() {
        return EchoTerms.encode(inbox.region().remote());
    }

    @Override
    public boolean isEnded() {
        return queuePair.state() == QueuePairState.ERROR;
    }

    @Override
    public void close() {
        queuePair.close();
        outbox.close();
        inbox.close();
    }
}
