package org.softrdma.stores.herd.transport;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.herd.wire.HerdAnswersDescriptor;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdWrittenAnswer;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * Answers are WRITEs into the client's answer slots. Until the client has told where they are, its requests wait in their
 * slots.
 */
final class RcWritePeer extends RcPeer {
    private final int answerLength;
    private final long answersLength;
    private final HerdWrittenAnswer seals;
    private @Nullable RemoteRegion answers;

    /** Accepts a client. */
    RcWritePeer(int serial, ConnectionRequest request, Common common, Consumer<RcPeer> dropping) {
        super(
                serial,
                request,
                common,
                dropping,
                RcWriteChannel.answerLength(common.context().maxValueLength()));
        answerLength = RcWriteChannel.answerLength(common.context().maxValueLength());
        answersLength = (long) common.shape().slots() * answerLength;
        seals = common.seals();
    }

    @Override
    boolean told(long length) {
        if (answers != null || !HerdAnswersDescriptor.isValid(replies(), messageAt(), length, answersLength)) {
            return false;
        }
        answers = HerdAnswersDescriptor.get(replies(), messageAt());
        expectMessage();
        return true;
    }

    @Override
    public boolean hasRoom() {
        return answers != null && super.hasRoom();
    }

    @Override
    public void send(int length) {
        RemoteRegion to = answers;
        if (to == null) {
            throw new IllegalStateException("there is no room for an answer yet");
        }
        int slot = HerdReplyDescriptor.slot(replies(), nextReply());
        int sealed = seals.seal(replies(), repliesView(), nextReply(), length);
        writeReply(sealed, to.address() + (slot + 1L) * answerLength - sealed, to.rkey());
    }
}
