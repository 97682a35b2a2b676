package org.softrdma.farm.node;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;

/**
 * Judges what a fat pointer points to. Its place may have another object by now, and one of another length, of which nothing
 * would ever look whole. So the incarnation decides first: it is a word of the first line, and never goes down. The node's
 * thread; a result may be asked for by whoever has waited for it.
 */
final class PointerJudge implements ReadJudge {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final LockFreeReader reader;
    private final ObjectImage image;
    private int length;
    private int incarnation;
    private boolean gone;

    PointerJudge(LockFreeReader reader, ObjectImage image) {
        this.reader = reader;
        this.image = image;
    }

    /** What the next object must be. */
    void expect(int newLength, int newIncarnation) {
        length = newLength;
        incarnation = newIncarnation;
        gone = false;
    }

    /** True if the object is no more. */
    boolean isGone() {
        return gone;
    }

    @Override
    public ReadVerdict judge(MemorySegment memory, long at, long start) {
        gone = memory.get(INT, at + FarmObjectDescriptor.INCARNATION_OFFSET) != incarnation;
        return gone ? ReadVerdict.CONSISTENT : reader.read(memory, at, start, length, image);
    }
}
