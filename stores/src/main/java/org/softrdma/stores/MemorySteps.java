package org.softrdma.stores;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * How a server writes memory that peers READ meanwhile. This class writes it as usual. A simulation, in which one thread
 * runs at a time, extends it to let peers look in the middle of a change, and is handed in by {@link
 * StoreServerContext#steps}.
 *
 * <p>It is a class and no interface for its cost in production: where no subclass is loaded, the JIT calls the methods
 * here directly. Stateless; any thread.
 */
public class MemorySteps {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** As usual. */
    public static final MemorySteps OF_JVM = new MemorySteps();

    /** For subclasses. */
    protected MemorySteps() {}

    /**
     * Peers may look here.
     *
     * @param point where in a change the caller is; its name is for people
     */
    public void step(Enum<?> point) {
        // They may look anyway.
    }

    /**
     * Writes an aligned word, little endian.
     *
     * @param memory in which it is
     * @param offset a multiple of 8
     * @param word its value
     */
    public void write(MemorySegment memory, long offset, long word) {
        memory.set(WORD, offset, word);
    }

    /**
     * Copies.
     *
     * @param source where from
     * @param sourceOffset first byte in it
     * @param target where to
     * @param targetOffset first byte in it
     * @param length bytes
     */
    public void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long length) {
        MemorySegment.copy(source, sourceOffset, target, targetOffset, length);
    }
}
