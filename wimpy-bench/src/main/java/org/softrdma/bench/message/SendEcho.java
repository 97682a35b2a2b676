package org.softrdma.bench.message;

import java.util.EnumSet;
import org.softrdma.bench.read.MemoryPattern;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * SENDs answered by SENDs: RECVs in slots, each posted again once the answer to what it took has been sent. The answer is the request
 * itself, or as many bytes as were asked for of the pattern, which lies behind the slots, from where the request's first byte is.
 *
 * <p>A SEND that finds no RECV ends the connection. So there are slots for a window of SENDs that wait, for a window of answers whose
 * slots are not posted again yet, and for those that wait for the next signalled answer.
 */
final class SendEcho implements EchoConnection {
    private static final byte[] NO_WELCOME = new byte[0];

    private final QueuePair queuePair;
    private final RegisteredMemory memory;
    private final EchoTerms terms;
    private final int index;
    private final int slots;
    private final int signalInterval;
    private long answers;
    private long posted;

    private SendEcho(QueuePair queuePair, RegisteredMemory memory, EchoTerms terms, int index) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.terms = terms;
        this.index = index;
        slots = EchoConnection.slots(terms.window(), terms.answer());
        signalInterval = EchoConnection.signalInterval(terms.window(), terms.answer());
    }

    /** Makes a queue pair with its RECVs posted. */
    static SendEcho of(EchoParts parts, ConnectionRequest request, EchoTerms terms, int index) {
        int slots = EchoConnection.slots(terms.window(), terms.answer());
        RegisteredMemory memory = new RegisteredMemory(
                parts.device(),
                parts.domain(),
                slots * terms.size() + patternLength(terms),
                EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        SendEcho connection;
        try {
            MemoryPattern.fill(memory.segment().asSlice(slots * terms.size()));
            QueuePair queuePair = request.createQueuePair(
                    parts.domain(), QueuePairAttributes.of(parts.completions(), QueuePairLimits.of(slots, slots)));
            connection = new SendEcho(queuePair, memory, terms, index);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        try {
            connection.postReceives(slots);
            return connection;
        } catch (RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static long patternLength(EchoTerms terms) {
        return terms.answer() == EchoTerms.SAME ? 0 : terms.answer() + MemoryPattern.PERIOD;
    }

    @Override
    public void take(WorkCompletion completion) {
        if (completion.opcode().isReceive()) {
            answer(completion.wrId(), completion.byteLength());
        } else {
            // Sent, and with it the answers before: RECVs are filled, answered and posted again in one order.
            postReceives(signalInterval);
        }
    }

    private void answer(long wrId, long length) {
        int flags = answers % signalInterval == signalInterval - 1 ? SendFlags.SIGNALLED : 0;
        answers++;
        long request = EchoConnection.slot(wrId) * terms.size();
        if (terms.answer() == EchoTerms.SAME) {
            MessageLoad.require(queuePair.postSend(wrId, memory.region(), request, length, flags));
            return;
        }
        long from = slots * terms.size() + MemoryPattern.positionOf(memory.segment(), request);
        MessageLoad.require(queuePair.postSend(wrId, memory.region(), from, terms.answer(), flags));
    }

    private void postReceives(int count) {
        for (int i = 0; i < count; i++) {
            long slot = posted++ % slots;
            MessageLoad.require(queuePair.postReceive(
                    EchoConnection.wrId(index, slot), memory.region(), slot * terms.size(), terms.size()));
        }
    }

    @Override
    public void look() {
        // All that comes has a completion.
    }

    @Override
    public EchoTerms terms() {
        return terms;
    }

    @Override
    public byte[] welcome() {
        return NO_WELCOME;
    }

    @Override
    public boolean isEnded() {
        return queuePair.state() == QueuePairState.ERROR;
    }

    @Override
    public void close() {
        queuePair.close();
        memory.close();
    }
}
