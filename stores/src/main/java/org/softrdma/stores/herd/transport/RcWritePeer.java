package org.softrdma.stores.herd.transport;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.herd.wire.HerdAnswersDescriptor;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Answers are WRITEs into the client's answer slots. The client tells once where they are; workers learn it from here. */
final class RcWritePeer extends RcPeer {
    private final AtomicReference<@Nullable RemoteRegion> answers;

    /** Accepts a client. */
    RcWritePeer(int serial, ConnectionRequest request, Common common) {
        this(serial, request, common, new AtomicReference<>());
    }

    private RcWritePeer(
            int serial, ConnectionRequest request, Common common, AtomicReference<@Nullable RemoteRegion> answers) {
        super(
                serial,
                request,
                common,
                answerLength(common),
                (worker, ring, view) -> new RcWrittenReplies(
                        ring,
                        common.counters().get(worker),
                        answers,
                        view,
                        common.seals().get(worker),
                        answerLength(common)));
        this.answers = answers;
    }

    private static int answerLength(Common common) {
        return RcWriteChannel.answerLength(common.context().maxValueLength());
    }

    @Override
    boolean told(long length) {
        long expected = (long) common().shape().slots() * answerLength(common());
        if (answers.getPlain() != null || !HerdAnswersDescriptor.isValid(messages(), messageAt(), length, expected)) {
            return false;
        }
        answers.setRelease(HerdAnswersDescriptor.get(messages(), messageAt())); // acquired by RcWrittenReplies
        expectMessage();
        return true;
    }
}
