package org.softrdma.net.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Operations on native memory that can fail: allocating buffers, and copying from and to memory that somebody else may
 * take away.
 *
 * <p>Who has event loops gives them one of these. It is a class that tests override, not an interface: while nothing
 * overrides it, the JVM inlines the calls, so the hot path pays nothing. Any thread.
 */
public class BufferOperations {
    /**
     * Bytes between two safepoints of a copy. Not more: the JVM copies pieces of 2 KiB one after the other faster than
     * 100 KiB as one (docs/studies/performance.md, "Pieces of a copy").
     */
    protected static final long LARGEST_COPY = 2048;

    /** The operations of this machine. */
    public BufferOperations() {}

    /**
     * Allocates a zeroed buffer that lives as long as something refers to the segment.
     *
     * @param length bytes
     * @param alignment of its address
     * @throws OutOfMemoryError if there is none
     */
    public final MemorySegment allocate(long length, long alignment) {
        return allocate(length, alignment, Arena.ofAuto());
    }

    /**
     * Allocates a zeroed buffer that lives as long as an arena.
     *
     * @param length bytes
     * @param alignment of its address
     * @param arena of the caller
     * @throws OutOfMemoryError if there is none
     */
    public MemorySegment allocate(long length, long alignment, Arena arena) {
        return arena.allocate(length, alignment);
    }

    /**
     * Copies from or to the application's memory; the ranges must not overlap.
     *
     * <p>If a page is gone, for example because a mapped file was truncated, the JVM marks the thread and throws at its
     * next safepoint. In compiled code that may be long after this method, outside the caller's {@code catch} and after
     * the bytes were used. So there is a safepoint here, in a loop whose length the compiler cannot know.
     *
     * @throws InternalError if a page is gone
     */
    public void copy(long source, long target, long length) {
        long done = 0;
        while (done < length) {
            long here = Math.min(length - done, LARGEST_COPY);
            NativeMemory.copy(source + done, target + done, here);
            done += here;
        }
    }
}
