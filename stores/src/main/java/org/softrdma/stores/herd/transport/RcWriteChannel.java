package org.softrdma.stores.herd.transport;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdAnswersDescriptor;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequestDescriptor;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcomeDescriptor;
import org.softrdma.stores.herd.wire.HerdWrittenAnswer;
import org.softrdma.verbs.AccessFlag;

/**
 * Answers are WRITEs into answer slots, which the client polls: one for each slot. An answer that nobody waits for is
 * written over by the next one, so nothing has to be counted. Requests have numbers.
 */
final class RcWriteChannel extends RcChannel {
    private static final int NOTHING = 0;

    private final RegisteredMemory answers;
    private final int answerLength;
    private final HerdWrittenAnswer answer;
    private final int[] expected;

    /**
     * Connects, as {@link RcChannel} does, and tells where answers go.
     *
     * @param answer takes answers, for one channel at a time
     * @param polled true for answer slots in memory that the device writes in order for who polls it
     */
    RcWriteChannel(Connecting by, HerdWrittenAnswer answer, boolean polled) {
        super(by, 1, HerdWelcomeDescriptor.LENGTH);
        this.answer = answer;
        int maxValueLength = by.context().maxValueLength();
        answerLength = answerLength(maxValueLength);
        try {
            if (!welcome().written() || welcome().maxValueLength() != maxValueLength) {
                throw new StoreException("the server has maxValueLength="
                        + welcome().maxValueLength() + ", answers by WRITE="
                        + welcome().written() + ", the client "
                        + maxValueLength + ", true: they must be the same");
            }
            int slots = welcome().shape().slots();
            expected = new int[slots];
            answers = new RegisteredMemory(
                    by.device(), by.domain(), ClientQueues.memoryLength(slots, answerLength), access(polled));
        } catch (RuntimeException | Error e) {
            super.close();
            throw e;
        }
        HerdAnswersDescriptor.put(messages(), secondAt(), answers.region().remote());
        say(secondAt(), HerdAnswersDescriptor.LENGTH);
    }

    private static Set<AccessFlag> access(boolean polled) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (polled) {
            access.add(AccessFlag.POLLED);
        }
        return access;
    }

    /** Bytes of an answer slot. */
    static int answerLength(int maxValueLength) {
        return HerdShape.slotLength(HerdWrittenAnswer.length(HerdReplyDescriptor.length(maxValueLength)));
    }

    @Override
    public boolean isReliable() {
        return false;
    }

    @Override
    public boolean mayWriteAgain(int unanswered) {
        return true;
    }

    @Override
    public void write(int slot, int length) {
        expected[slot] = HerdRequestDescriptor.number(slots(), welcome().shape().end(slot));
        super.write(slot, length);
    }

    @Override
    public boolean poll(HerdReplyHandler handler) {
        if (!super.poll(handler)) {
            return false;
        }
        for (int slot = 0; slot < expected.length && !isClosed(); slot++) {
            if (expected[slot] != NOTHING) {
                take(slot, handler);
            }
        }
        return true;
    }

    private void take(int slot, HerdReplyHandler handler) {
        int length = answer.take(answers.segment(), (slot + 1L) * answerLength, expected[slot]);
        if (length >= 0) {
            expected[slot] = NOTHING; // before the handler, which may WRITE the next request
            handler.onMessage(answer.memory(), 0, length);
        }
    }

    /** The server sends nothing after its welcome. */
    @Override
    protected boolean received(int receive, long length, HerdReplyHandler handler) {
        return false;
    }

    @Override
    public void close() {
        if (!isClosed()) {
            super.close(); // the queue pair first
            answers.close();
        }
    }
}
