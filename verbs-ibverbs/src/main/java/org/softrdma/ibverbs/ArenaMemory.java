package org.softrdma.ibverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.HostMemories;

/** Memory for the application: whole pages of an arena. Allocation touches them; registration would pin them anyway. */
public final class ArenaMemory {
    private static final long PAGE = 4096;

    private ArenaMemory() {}

    /**
     * Allocates.
     *
     * @param length bytes, at least 1
     * @throws VerbsException {@code NO_RESOURCES} if that much is not available
     */
    public static HostMemory allocate(long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length=" + length + ": expected at least 1");
        }
        Arena arena = Arena.ofShared();
        return HostMemories.add(allocate(arena, length), false, arena::close);
    }

    private static MemorySegment allocate(Arena arena, long length) {
        try {
            return arena.allocate(length, PAGE);
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            arena.close();
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "cannot allocate " + length + " bytes: " + e.getMessage() + "; request less, or check ulimit -v",
                    e);
        }
    }
}
