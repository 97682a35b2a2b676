package org.softrdma.stores.herd.transport;

import org.softrdma.stores.herd.wire.HerdReplyDescriptor;

/**
 * Answers are SENDs. Each WRITE that the server has seen brings one, and an answer without a RECV would end the
 * connection; so there are RECVs for two WRITEs into each slot that is in use: the first, and one more.
 */
final class RcSendChannel extends RcChannel {
    private static final int ANSWERS_PER_SLOT = 2;

    /** Connects, as {@link RcChannel} does. */
    RcSendChannel(Connecting by) {
        super(
                by,
                ANSWERS_PER_SLOT * by.context().window() + 1, // one is in its handler
                HerdReplyDescriptor.length(by.context().maxValueLength()));
    }

    @Override
    public boolean isReliable() {
        return true;
    }

    @Override
    public boolean mayWriteAgain(int unanswered) {
        return unanswered < ANSWERS_PER_SLOT;
    }

    @Override
    protected boolean received(int receive, long length, HerdReplyHandler handler) {
        handler.onMessage(messages(), messageAt(receive), length);
        return true;
    }
}
