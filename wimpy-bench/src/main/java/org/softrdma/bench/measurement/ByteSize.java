package org.softrdma.bench.measurement;

import java.util.Locale;

/** Numbers of bytes as people write them: {@code 64}, {@code 2K}, {@code 10M}, {@code 1G}, powers of 1024. */
public final class ByteSize {
    private static final String SUFFIXES = "KMG";
    private static final int SHIFT_PER_SUFFIX = 10;

    private ByteSize() {}

    /**
     * The number that a text means.
     *
     * @param text digits with an optional suffix
     * @throws IllegalArgumentException with one sentence if it is not one
     */
    public static long parse(String text) {
        String trimmed = text.trim().toUpperCase(Locale.ROOT);
        int suffix = trimmed.isEmpty() ? -1 : SUFFIXES.indexOf(trimmed.charAt(trimmed.length() - 1));
        String digits = suffix < 0 ? trimmed : trimmed.substring(0, trimmed.length() - 1);
        int shift = (suffix + 1) * SHIFT_PER_SUFFIX;
        try {
            long value = Long.parseLong(digits);
            if (value >= 0 && value <= Long.MAX_VALUE >> shift) {
                return value << shift;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a size: expected a number such as 64, 2K or 1M", e);
        }
        throw new IllegalArgumentException("'" + text + "' is not a size: it is negative or too large");
    }

    /**
     * The shortest text for a number of bytes.
     *
     * @param bytes the number
     */
    public static String format(long bytes) {
        for (int i = SUFFIXES.length(); i > 0; i--) {
            int shift = i * SHIFT_PER_SUFFIX;
            if (bytes >= 1L << shift && bytes % (1L << shift) == 0) {
                return (bytes >> shift) + SUFFIXES.substring(i - 1, i);
            }
        }
        return Long.toString(bytes);
    }
}
