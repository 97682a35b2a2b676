package org.softrdma.run.files;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
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
    private static final byte[] BEGIN = LINK_PREFIX.getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = LINK_SUFFIX.getBytes(StandardCharsets.US_ASCII);
    private static final char SERIAL = '#';
    private static final int DECIMAL = 10;
    /** Bytes of a link of ours, at most. */
    public static final int LINK_LENGTH = 256;

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

    /**
     * The serial number of a program's descriptor; makes no object, because each doorbell asks.
     *
     * @param link room for a link, {@link #LINK_LENGTH}
     */
    public static int serialOf(ProgramKernel kernel, int thread, int descriptor, MemorySegment link) {
        int end = kernel.readLink(thread, descriptor, link) - END.length;
        if (end < BEGIN.length || !isAt(link, 0, BEGIN) || !isAt(link, end, END)) {
            return NO_SERIAL;
        }
        int serial = 0;
        int place = 1;
        for (int at = end - 1; at > 0; at--) {
            byte digit = link.get(ValueLayout.JAVA_BYTE, at);
            if (digit == SERIAL) {
                return at == end - 1 ? NO_SERIAL : serial;
            }
            if (digit < '0' || digit > '9') {
                return NO_SERIAL;
            }
            serial += (digit - '0') * place;
            place *= DECIMAL;
        }
        return NO_SERIAL;
    }

    private static boolean isAt(MemorySegment link, int at, byte[] wanted) {
        for (int i = 0; i < wanted.length; i++) {
            if (link.get(ValueLayout.JAVA_BYTE, (long) at + i) != wanted[i]) {
                return false;
            }
        }
        return true;
    }

    private static String nameOf(ProgramKernel kernel, int thread, int descriptor) {
        String link = kernel.linkOf(thread, "fd/" + descriptor);
        return link.startsWith(LINK_PREFIX) && link.endsWith(LINK_SUFFIX)
                ? link.substring(LINK_PREFIX.length(), link.length() - LINK_SUFFIX.length())
                : "";
    }
}
