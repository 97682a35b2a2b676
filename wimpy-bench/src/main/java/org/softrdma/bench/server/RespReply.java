package org.softrdma.bench.server;

import java.nio.ByteBuffer;
import org.softrdma.bench.measurement.MeasurementException;

/** Replies of redis (RESP, version 2), as far as a load has to understand them. */
final class RespReply {
    /** The rest of it has not come. */
    static final int INCOMPLETE = -1;

    private static final int CRLF = 2;
    private static final int DECIMAL = 10;

    private RespReply() {}

    /**
     * Where some replies end, {@link #INCOMPLETE} if they have not all come.
     *
     * @param input what has come, up to its limit
     * @param from offset of the first reply
     * @param count how many
     * @throws MeasurementException if one of them is an error, or none that redis gives
     */
    static int end(ByteBuffer input, int from, int count) {
        int at = from;
        for (long left = count; left > 0; left--) {
            int line = lineEnd(input, at);
            if (line < 0) {
                return INCOMPLETE;
            }
            switch (input.get(at)) {
                case '+', ':' -> at = line + CRLF;
                case '$' -> {
                    long length = number(input, at + 1, line);
                    at = line + CRLF + (length < 0 ? 0 : Math.toIntExact(length) + CRLF);
                }
                case '*' -> {
                    left += Math.max(0, number(input, at + 1, line));
                    at = line + CRLF;
                }
                default -> throw new MeasurementException("redis answered " + text(input, at, line));
            }
            if (at > input.limit()) {
                return INCOMPLETE;
            }
        }
        return at;
    }

    private static int lineEnd(ByteBuffer input, int from) {
        for (int i = from; i < input.limit() - 1; i++) {
            if (input.get(i) == '\r' && input.get(i + 1) == '\n') {
                return i;
            }
        }
        return -1;
    }

    private static long number(ByteBuffer input, int from, int end) {
        try {
            return Long.parseLong(text(input, from, end), DECIMAL);
        } catch (NumberFormatException e) {
            throw new MeasurementException("redis answered a length of " + text(input, from, end), e);
        }
    }

    /** Some bytes as text. */
    static String text(ByteBuffer input, int from, int end) {
        StringBuilder text = new StringBuilder(end - from);
        for (int i = from; i < end; i++) {
            text.append((char) input.get(i));
        }
        return text.toString();
    }
}
