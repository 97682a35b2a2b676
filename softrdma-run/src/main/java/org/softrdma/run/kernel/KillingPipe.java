package org.softrdma.run.kernel;

/**
 * A pipe by which a process ends with this one: when the writing end closes, because this process has ended, the kernel sends SIGKILL
 * to the process that is set for the reading end (fcntl(2), F_SETSIG). Somebody else must have the reading end open by then.
 */
public final class KillingPipe {
    private static final int SET_STATUS_FLAGS = 4;
    private static final int SIGNAL_WHEN_READY = 020000;
    private static final int SET_OWNER = 8;
    private static final int SET_SIGNAL = 10;
    private static final int SIGKILL = 9;

    private KillingPipe() {}

    /** Sets the process that is to end, for the reading end here and its copies. */
    public static void set(RawCalls calls, int readingEnd, int process) {
        long ignored = calls.call(LinuxCall.FCNTL, readingEnd, SET_OWNER, process);
        ignored = calls.call(LinuxCall.FCNTL, readingEnd, SET_SIGNAL, SIGKILL);
        ignored = calls.call(LinuxCall.FCNTL, readingEnd, SET_STATUS_FLAGS, SIGNAL_WHEN_READY);
    }
}
