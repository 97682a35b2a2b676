package org.softrdma.stores.herd.transport;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdWrittenAnswer;
import org.softrdma.verbs.RemoteRegion;

/**
 * A worker's answers by a reliable connection: WRITEs into the client's answer slots. Until the client has told where they
 * are, its requests wait in their slots. Owned by the worker's thread.
 */
final class RcWrittenReplies extends RcReplies {
    private final AtomicReference<@Nullable RemoteRegion> told;
    private final ByteBuffer view;
    private final HerdWrittenAnswer seals;
    private final int answerLength;

    /**
     * No answer yet.
     *
     * @param ring of this worker and this client
     * @param counters of the worker
     * @param told where the answer slots are, once the client has told
     * @param view the memory of the ring, this worker's own view
     * @param seals of the worker
     * @param answerLength bytes of an answer slot
     */
    RcWrittenReplies(
            ReplyRing ring,
            StoreCounters counters,
            AtomicReference<@Nullable RemoteRegion> told,
            ByteBuffer view,
            HerdWrittenAnswer seals,
            int answerLength) {
        super(ring, counters);
        this.told = told;
        this.view = view;
        this.seals = seals;
        this.answerLength = answerLength;
    }

    @Override
    public boolean hasRoom(int answers) {
        return told.getAcquire() != null && super.hasRoom(answers);
    }

    @Override
    public void add(int length) {
        RemoteRegion to = told.getAcquire();
        if (to == null) {
            throw new IllegalStateException("there is no room for an answer yet");
        }
        int slot = HerdReplyDescriptor.slot(memory(), nextAt());
        int sealed = seals.seal(memory(), view, nextAt(), length);
        ring().addWrite(sealed, to.address() + (slot + 1L) * answerLength - sealed, to.rkey());
        count(StoreCounter.WRITES);
    }
}
