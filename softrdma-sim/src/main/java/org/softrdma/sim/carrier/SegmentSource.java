package org.softrdma.sim.carrier;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.wire.MessageKind;

/** Where the segments that a stream sends come from. Engine thread only. */
public interface SegmentSource {
    /**
     * Adds the next segment to the batch and moves on behind it.
     *
     * @return false if there is none now, or no room for it in the batch
     */
    boolean addNext();

    /**
     * The kernel has taken a segment, all of it.
     *
     * @param kind of its message
     * @param sequence of its request
     * @param last last segment of its message
     */
    void sent(MessageKind kind, long sequence, boolean last);

    /**
     * The kernel has taken nothing of a segment: goes back to it, and adds it anew later. Newest first.
     *
     * @param kind of its message
     * @param sequence of its request
     * @param offset bytes of its message before it
     * @param last last segment of its message
     * @param message what its message is read from, if that was decided with an earlier segment
     */
    void takeBack(MessageKind kind, long sequence, long offset, boolean last, @Nullable Binding message);

    /** True while requests of the send queue may go: their memory is the application's again when they no longer may. */
    boolean allowsRequests();

    /** A turn has nothing to send: the time to fail a request that waited for those before it. True if there is something now. */
    boolean settleFault();

    /** The memory of a request was deregistered when part of a segment had gone, and nothing can follow that. */
    void memoryGone(long sequence);

    /** True if nothing is left to send but what the peer may still ask for. */
    boolean isIdle();
}
