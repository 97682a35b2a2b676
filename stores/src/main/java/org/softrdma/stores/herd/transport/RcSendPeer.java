package org.softrdma.stores.herd.transport;

import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Answers are SENDs. */
final class RcSendPeer extends RcPeer {
    /** Accepts a client. */
    RcSendPeer(int serial, ConnectionRequest request, Common common) {
        super(
                serial,
                request,
                common,
                longest(common.context()),
                (worker, ring, view) -> new RcReplies(ring, common.counters().get(worker)));
    }

    /** Bytes of the longest answer. */
    static int longest(StoreServerContext context) {
        return HerdReplyDescriptor.length(context.maxValueLength());
    }

    @Override
    boolean told(long length) {
        return false;
    }
}
