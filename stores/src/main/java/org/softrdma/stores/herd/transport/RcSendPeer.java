package org.softrdma.stores.herd.transport;

import java.util.function.Consumer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Answers are SENDs. */
final class RcSendPeer extends RcPeer {
    /** Accepts a client. */
    RcSendPeer(int serial, ConnectionRequest request, Common common, Consumer<RcPeer> dropping) {
        super(serial, request, common, dropping, longest(common.context()));
    }

    /** Bytes of the longest answer. */
    static int longest(StoreServerContext context) {
        return HerdReplyDescriptor.length(context.maxValueLength());
    }

    @Override
    boolean told(long length) {
        return false;
    }

    @Override
    public void send(int length) {
        sendReply(length);
    }
}
