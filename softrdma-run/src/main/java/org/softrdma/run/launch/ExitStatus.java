package org.softrdma.run.launch;

/** What a program ended with, as shells tell it. */
final class ExitStatus {
    private static final int SIGNAL_MASK = 0x7F;
    private static final int BY_SIGNAL = 128;

    private ExitStatus() {}

    /** The exit code, or 128 and the number of the signal that ended the program. */
    static int ofWait(int status) {
        int signal = status & SIGNAL_MASK;
        return signal == 0 ? (status >> Byte.SIZE) & 0xFF : BY_SIGNAL + signal;
    }
}
