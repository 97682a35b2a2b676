package org.softrdma.stores;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * How a server writes memory that peers READ at the same time. This class uses plain stores. A simulation, in which one
 * thread runs at a time, extends it to let peers READ in the middle of a change; {@link StoreServerContext#steps} sets
 * the extension.
 *
 * <p>It is a class instead of an interface because of its cost in production: while no subclass is loaded, the JIT
 * calls these methods directly. Stateless; any thread.
 */
public class MemorySteps {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** As usual. */
    public static final MemorySteps OF_JVM = new MemorySteps();

    /** For subclasses. */
    protected MemorySteps() {}

    /**
     * Peers may READ at this point.
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

    /** Peers see what was written before this before they see what is written behind it. */
    public void fence() {
        VarHandle.releaseFence();
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
