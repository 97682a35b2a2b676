package org.softrdma.sim.carrier;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.wire.MessageKind;

/** Supplies the segments that a stream sends. Engine thread only. */
public interface SegmentSource {
    /**
     * Adds the next segment to the batch and moves on behind it.
     *
     * @return false if there is none now, or no room for it in the batch
     */
    boolean addNext();

    /** A turn begins, also while the kernel takes nothing. What was granted before may not be any more afterwards. */
    void beginTurn();

    /** A batch was sent, and another one may follow. What was granted before may not be any more afterwards. */
    void batchSent();

    /**
     * The kernel has taken a whole segment.
     *
     * @param kind of its message
     * @param sequence of its request
     * @param last last segment of its message
     */
    void sent(MessageKind kind, long sequence, boolean last);

    /**
     * The kernel has taken nothing of a segment: goes back to it, to add it again later. Called for the newest segment
     * first.
     *
     * @param kind of its message
     * @param sequence of its request
     * @param offset bytes of its message before it
     * @param last last segment of its message
     * @param message what its message is read from, if an earlier segment has decided that
     */
    void takeBack(MessageKind kind, long sequence, long offset, boolean last, @Nullable Binding message);

    /** True while requests of the send queue may be sent; after that their memory belongs to the application again. */
    boolean allowsRequests();

    /**
     * A turn has nothing to send: fails a request that waited for those before it. True if there is something to send
     * now.
     */
    boolean settleFault();

    /** The memory of a request was deregistered after part of a segment was sent, so nothing more can be sent. */
    void memoryGone(long sequence);

    /** True if nothing is left to send; the peer may still ask for more. */
    boolean isIdle();
}
