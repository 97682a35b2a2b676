package org.softrdma.kv.parity;

import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whether a number was 2^63 or more before a request changed it, by what the request asked for and what it was answered.
 * Stateless.
 */
final class LargeNumber {
    private static final Pattern CLASSIC = Pattern.compile("(incr|decr) +\\S+ +\\s*([-+]?[0-9]+).*", Pattern.DOTALL);
    private static final Pattern CLASSIC_ANSWER = Pattern.compile("([0-9]+)\r\n");
    private static final Pattern META_DELTA = Pattern.compile("ma .* D\\s*([-+]?[0-9]+).*", Pattern.DOTALL);
    private static final Pattern META_DECREMENT = Pattern.compile("ma .* M[Dd\\-].*", Pattern.DOTALL);
    private static final Pattern META_ANSWER = Pattern.compile("VA [^\r]*\r\n([0-9]+)\r\n");
    private static final Pattern BINARY_ANSWER =
            Pattern.compile("81 opcode [01][56] status 00 [^\n]*: ([0-9]+)\n", Pattern.DOTALL);
    private static final char BINARY = 0x80;
    private static final int BINARY_DELTA = 24;

    private LargeNumber() {}

    /** True if it was, or if the answer does not tell. */
    static boolean mayHaveBeenBefore(Unit unit, String answer) {
        if (answer.isEmpty() || answer.startsWith("HD")) {
            return true; // a quiet request, or one that did not ask for the number
        }
        String text = unit.text();
        Matcher classic = CLASSIC.matcher(text);
        if (classic.matches()) {
            return before(classic.group(1).equals("incr"), classic.group(2), CLASSIC_ANSWER.matcher(answer));
        }
        if (text.startsWith("ma ")) {
            Matcher delta = META_DELTA.matcher(text);
            boolean decrement = META_DECREMENT.matcher(text).matches();
            return before(!decrement, delta.matches() ? delta.group(1) : "1", META_ANSWER.matcher(answer));
        }
        if (text.charAt(0) == BINARY && text.length() >= BINARY_DELTA + Long.BYTES) {
            long delta = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                delta = delta << Byte.SIZE | text.charAt(BINARY_DELTA + i);
            }
            boolean increment = (text.charAt(1) & 0xf) == 5;
            return before(increment, Long.toUnsignedString(delta), BINARY_ANSWER.matcher(answer));
        }
        return false;
    }

    /** A number that a decrement made 0 was at most as large as what was taken. C takes a minus modulo 2^64. */
    private static boolean before(boolean increment, String delta, Matcher now) {
        if (!now.matches()) {
            return false;
        }
        long by = new BigInteger(delta).longValue();
        long number = Long.parseUnsignedLong(now.group(1));
        return (increment ? number - by : number + by) < 0;
    }
}
