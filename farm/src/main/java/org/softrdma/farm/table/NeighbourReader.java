package org.softrdma.farm.table;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;

/**
 * Judges a READ of a bucket and the one behind it, in which a key is unless it is in the chain of the first. Each must be
 * consistent, and the forward joint version of the first must be the backward one of the second: else a pair may have
 * moved from one to the other between the two. One thread.
 */
public final class NeighbourReader {
    private final FarmBucketDescriptor layout;
    private final int stride;
    private final LockFreeReader reader;
    private final ObjectImage first = new ObjectImage();
    private final ObjectImage second = new ObjectImage();

    /**
     * A reader.
     *
     * @param shape of the table
     * @param stride bytes from the place of one bucket to that of the next
     */
    public NeighbourReader(TableShape shape, int stride) {
        layout = shape.bucket();
        this.stride = stride;
        reader = new LockFreeReader(shape.checksums());
    }

    /** Bytes of the two. */
    public int length() {
        return 2 * stride;
    }

    /**
     * Judges them.
     *
     * @param memory where the READ has put them
     * @param at where the first begins in it
     * @param start offset of the first in its region
     */
    public NeighbourVerdict read(MemorySegment memory, long at, long start) {
        ReadVerdict verdict = reader.read(memory, at, start, layout.length(), first);
        if (verdict == ReadVerdict.CONSISTENT) {
            verdict = reader.read(memory, at + stride, start + stride, layout.length(), second);
        }
        if (verdict != ReadVerdict.CONSISTENT) {
            return NeighbourVerdict.of(verdict);
        }
        return layout.forward(first) == layout.backward(second)
                ? NeighbourVerdict.CONSISTENT
                : NeighbourVerdict.JOINT_DIFFERS;
    }

    /** The bucket of the key. */
    public ObjectImage first() {
        return first;
    }

    /** The one behind. */
    public ObjectImage second() {
        return second;
    }
}
