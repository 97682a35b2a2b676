package org.softrdma.run.files;

import org.jspecify.annotations.Nullable;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * Names of the files in memory that stand for ours, {@code softrdma:PATH} or {@code softrdma:PATH#SERIAL}: a descriptor tells what it is
 * by its link below /proc.
 */
public final class OurFiles {
    private static final String PREFIX = "softrdma:";
    private static final String LINK_PREFIX = "/memfd:" + PREFIX;
    private static final String LINK_SUFFIX = " (deleted)";
    private static final char SERIAL = '#';
    /** The answer of {@link #serialOf} for a descriptor that is not ours, or has none. */
    public static final int NO_SERIAL = -1;

    private OurFiles() {}

    /** The name of a file that was opened by its path. */
    public static String name(String path) {
        return PREFIX + path;
    }

    /** The name of a file of which each one that is opened is another. */
    public static String name(String path, int serial) {
        return PREFIX + path + SERIAL + serial;
    }

    /** The path of a program's descriptor; null if it is none of ours. */
    public static @Nullable String pathOf(ProgramKernel kernel, int thread, int descriptor) {
        String name = nameOf(kernel, thread, descriptor);
        int end = name.indexOf(SERIAL);
        return name.isEmpty() ? null : end < 0 ? name : name.substring(0, end);
    }

    /** The serial number of a program's descriptor. */
    public static int serialOf(ProgramKernel kernel, int thread, int descriptor) {
        String name = nameOf(kernel, thread, descriptor);
        int end = name.indexOf(SERIAL);
        return end < 0 ? NO_SERIAL : Integer.parseInt(name, end + 1, name.length(), 10);
    }

    private static String nameOf(ProgramKernel kernel, int thread, int descriptor) {
        String link = kernel.linkOf(thread, "fd/" + descriptor);
        return link.startsWith(LINK_PREFIX) && link.endsWith(LINK_SUFFIX)
                ? link.substring(LINK_PREFIX.length(), link.length() - LINK_SUFFIX.length())
                : "";
    }
}
