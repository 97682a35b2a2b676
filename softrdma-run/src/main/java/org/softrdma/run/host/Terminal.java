package org.softrdma.run.host;

import java.util.List;
import org.softrdma.net.kernel.ProcFile;

/** The terminal that this process and a program that it starts belong to. Any thread. */
public final class Terminal {
    private static final int GROUP = 2;
    private static final int FOREGROUND_GROUP = 5;

    private Terminal() {}

    /**
     * Whether keys of a terminal send this process signals: then a program that it has started gets them from the terminal, too, and
     * passing them on would double them.
     */
    public static boolean sendsSignals() {
        List<String> lines = ProcFile.lines("/proc/self/stat");
        return !lines.isEmpty() && isInForeground(lines.getFirst());
    }

    /** By a line of {@code /proc/PID/stat}; the name in it may have blanks and brackets. */
    static boolean isInForeground(String line) {
        String[] words = line.substring(line.lastIndexOf(')') + 1).strip().split(" ", -1);
        return words.length > FOREGROUND_GROUP && words[GROUP].equals(words[FOREGROUND_GROUP]);
    }
}
