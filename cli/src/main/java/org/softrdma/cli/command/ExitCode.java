package org.softrdma.cli.command;

/** The exit codes of every command. */
public final class ExitCode {
    /** The work was done. */
    public static final int OK = 0;

    /** The work failed, or there is a fault in this program. */
    public static final int FAILED = 1;

    /** The command line, or a file or address it names, is wrong. */
    public static final int USAGE = 2;

    private ExitCode() {}
}
