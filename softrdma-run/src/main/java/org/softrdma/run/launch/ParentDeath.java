package org.softrdma.run.launch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.KillingPipe;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;

/**
 * Ends a program when this process is killed: the program inherits the reading end of a {@link KillingPipe}. What the program has started
 * ends so if it has the device open, and else its calls fail.
 */
final class ParentDeath {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final int CLOSE_ON_EXEC = 02000000;
    private static final int DUPLICATE = 0;
    private static final int NOBODY = 0;

    private final RawCalls calls;
    private final int readingEnd;

    /**
     * Makes the pipe. Its writing end stays open as long as this process.
     *
     * @param lowest number for the reading end: far from those that programs expect to be free
     */
    ParentDeath(RawCalls calls, int lowest, Arena arena) {
        this.calls = calls;
        MemorySegment ends = arena.allocate(INT, 2);
        if (calls.call(LinuxCall.PIPE2, ends.address(), CLOSE_ON_EXEC, 0) < 0) {
            readingEnd = -1;
            return;
        }
        int made = ends.getAtIndex(INT, 0);
        readingEnd = (int) calls.call(LinuxCall.FCNTL, made, DUPLICATE, lowest);
        long ignored = calls.call(LinuxCall.CLOSE, made, 0, 0);
        KillingPipe.set(calls, readingEnd, NOBODY); // below the filter nothing may load a class
    }

    /** Sets the program that is to end, which has inherited its end. */
    void set(int process) {
        if (readingEnd < 0) {
            return;
        }
        KillingPipe.set(calls, readingEnd, process);
        long ignored = calls.call(LinuxCall.CLOSE, readingEnd, 0, 0);
    }
}
