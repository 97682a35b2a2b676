package org.softrdma.sim.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.HostMemories;

/**
 * What a device does with native memory that can fail: it gets buffers and pages of its own, and copies from and to memory of the
 * application. Nothing else in the module allocates native memory that a connection needs, or copies the application's, so
 * this is the one place where a test puts guards around every buffer and makes any call fail.
 *
 * <p>One for each device, given to its constructor. A class that tests override and not an interface: as long as nothing
 * overrides it the JVM inlines the calls, so the hot path pays nothing. Any thread.
 */
public class MemoryOperations {
    private static final long LARGEST_COPY = 1 << 20;

    /** The machine's. */
    public MemoryOperations() {}

    /**
     * A zeroed buffer of the device's own, which lives as long as something refers to the segment.
     *
     * @param length bytes
     * @param alignment of its address
     * @throws OutOfMemoryError if there is none
     */
    public final MemorySegment allocate(long length, long alignment) {
        return allocate(length, alignment, Arena.ofAuto());
    }

    /**
     * A zeroed buffer of the device's own, which lives as long as an arena.
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
     * Copies from or to memory of the application; the ranges do not overlap.
     *
     * <p>If a page is gone, as of a mapped file that was truncated, the JVM marks the thread and throws at its next safepoint: in
     * compiled code that may be long after this method, beyond the {@code catch} of its caller and after the bytes were used. So
     * there is a safepoint here, that of a loop which the compiler cannot count.
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

    /**
     * Memory for the application, which outlives its registrations on any device.
     *
     * @param length bytes, at least 1
     * @param source where its pages come from
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much, {@code NOT_SUPPORTED} if it has none of
     *     that kind
     */
    public final HostMemory allocateForApplication(long length, MemorySource source) {
        if (length < 1) {
            throw new IllegalArgumentException("length=" + length + ": expected at least 1");
        }
        return Creation.orUndo(
                () -> {
                    PageMemory pages = map(length, source);
                    boolean resident = source instanceof MemorySource.HugePages;
                    return HostMemories.add(pages.segment(), resident, pages::close);
                },
                () -> {},
                length + " bytes");
    }

    /** Whole pages, for tables and for what the device allocates for the application; as {@link PageMemory#allocate}. */
    PageMemory map(long length, MemorySource source) {
        return PageMemory.allocate(length, source);
    }
}
