package org.softrdma.bench.study;

import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.measurement.MedianOfRounds;

/** Numbers as tables and pages show them. */
public final class ReportText {
    /** What stands where a number would say nothing. */
    public static final String TOO_NOISY = "too noisy";

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
     * A median with so many digits behind the point; words instead of it if its rounds lie too far apart.
     *
     * @param value the number
     * @param noisy whether they do
     * @param digits behind the point
     */
    public static String median(double value, boolean noisy, int digits) {
        return noisy ? TOO_NOISY : number(value, digits);
    }

    /**
     * The least and the most of some rounds; a dash for what was not measured.
     *
     * @param spread of the rounds
     * @param digits behind the point
     */
    public static String spread(Optional<MedianOfRounds.Spread> spread, int digits) {
        return spread.map(each -> number(each.least(), digits) + " to " + number(each.most(), digits))
                .orElse("-");
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
