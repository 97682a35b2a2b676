package org.softrdma.bench.study;

import java.util.Locale;

/** Numbers as tables and pages show them. */
public final class ReportText {
    private static final int KIB = 1024;

    private ReportText() {}

    /**
     * A number with so many digits behind the point; a dash for what was not measured.
     *
     * @param value the number
     * @param digits behind the point
     */
    public static String number(double value, int digits) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + digits + "f", value) : "-";
    }

    /**
     * A length, in KiB where it is whole KiB.
     *
     * @param bytes the length
     */
    public static String size(int bytes) {
        return bytes % KIB == 0 ? bytes / KIB + " KiB" : bytes + " B";
    }
}
