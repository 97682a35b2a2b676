package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.stores.MemorySteps;

/** How requests are laid out in slots, and how a server knows that one is there. One thread at each end. */
public interface HerdRequestForm {
    /** What is in a slot. */
    enum Found {
        /** Nothing new. */
        NOTHING,
        /** A part of a request, or a request and a part of the next one. */
        PART,
        /** A request that no client of ours writes. */
        WRONG,
        /** A request, copied. */
        REQUEST
    }

    /** Bytes of the longest request. */
    int maxLength();

    /** True if requests have numbers, so that repeated ones are known. */
    boolean isNumbered();

    /** The hash of a key. */
    long hash(MemorySegment memory, long key, int keyLength);

    /**
     * Lays out a request so that it ends where its slot ends. Key and value must not lie there.
     *
     * @param slots the memory of all slots
     * @param view the same memory; its position and limit are changed
     * @param end where the slot ends
     * @param asked the request
     * @return bytes of the request
     */
    int put(MemorySegment slots, ByteBuffer view, long end, HerdAsked asked);

    /**
     * Looks into a slot, and copies the request that is there.
     *
     * @param slots the memory of all slots, which a peer WRITEs meanwhile
     * @param end where the slot ends
     * @param seen poll words of the requests that were taken, by slot; zeroes at first
     * @param steps how it copies
     * @param request takes the copy
     */
    Found take(MemorySegment slots, long end, int slot, long[] seen, MemorySteps steps, HerdRequest request);
}
