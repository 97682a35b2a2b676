package org.softrdma.stores.herd.transport;

import java.util.function.Consumer;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Answers are SENDs. */
final class RcSendPeer extends RcPeer {
    /** Accepts a client. */
    RcSendPeer(int serial, ConnectionRequest request, Common common, Consumer<RcPeer> dropping) {
        super(
                serial,
                request,
                common,
                dropping,
                HerdReplyDescriptor.length(common.context().maxValueLength()));
    }

    @Override
    boolean told(long length) {
        return false; // there is no RECV for it either
    }

    @Override
    public void send(int length) {
        sendReply(length);
    }
}
