package org.softrdma.run.launch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.RawCalls;

/**
 * Ends a program when this process is killed. The program inherits the reading end of a pipe of which this process has the only writing
 * end; when that closes, the kernel sends whoever is set for the reading end a signal, and SIGKILL is set (fcntl(2), F_SETSIG). What the
 * program has started is not ended so, but its calls fail.
 */
final class ParentDeath {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final int CLOSE_ON_EXEC = 02000000;
    private static final int DUPLICATE = 0;
    private static final int SET_STATUS_FLAGS = 4;
    private static final int SIGNAL_WHEN_READY = 020000;
    private static final int SET_OWNER = 8;
    private static final int SET_SIGNAL = 10;
    private static final int SIGKILL = 9;

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
    }

    /** Sets the program that is to end, which has inherited its end. */
    void set(int process) {
        if (readingEnd < 0) {
            return;
        }
        long ignored = calls.call(LinuxCall.FCNTL, readingEnd, SET_OWNER, process);
        ignored = calls.call(LinuxCall.FCNTL, readingEnd, SET_SIGNAL, SIGKILL);
        ignored = calls.call(LinuxCall.FCNTL, readingEnd, SET_STATUS_FLAGS, SIGNAL_WHEN_READY);
        ignored = calls.call(LinuxCall.CLOSE, readingEnd, 0, 0);
    }
}
