package org.softrdma.run.host;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;

/** Limits of this process, which a program that it starts inherits. Any thread. */
public final class HostLimits {
    private static final int OPEN_FILES = 7;
    private static final int LIMIT_LENGTH = 16;

    private HostLimits() {}

    /** How many descriptors a process may have. */
    public static long openFiles(Architecture architecture) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = arena.allocate(LIMIT_LENGTH, Long.BYTES);
            long result = new RawCalls(architecture, arena)
                    .call(LinuxCall.PRLIMIT64, 0, OPEN_FILES, 0, limit.address(), 0, 0);
            long soft = limit.get(ValueLayout.JAVA_LONG, 0);
            return result < 0 || soft < 0 ? Long.MAX_VALUE : soft;
        }
    }
}
