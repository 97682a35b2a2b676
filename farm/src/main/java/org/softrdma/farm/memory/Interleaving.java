package org.softrdma.farm.memory;

import java.lang.foreign.MemorySegment;

/**
 * Where another thread, or the device, may run in the middle of a change. This class does nothing about it. A
 * simulation extends it to let others run there.
 *
 * <p>It is a class and no interface for its cost in production, which is none: where no subclass is loaded, the JIT
 * calls the methods here directly. Stateless; any thread.
 */
public class Interleaving {
    /** What the JVM does. */
    public static final Interleaving OF_JVM = new Interleaving();

    /** For subclasses. */
    protected Interleaving() {}

    /** Another thread may run here: nothing in production. */
    public void step() {
        // The JVM lets others run anyway.
    }

    /**
     * Copies to memory that peers may READ meanwhile.
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
