package org.softrdma.bench.workload;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The line before a value in memcached's text protocol and in redis' RESP. */
final class LineHead implements AnswerHead {
    private static final int MAX_DESCRIPTION = 80;

    private final byte[] start;
    private final int lengthWord;
    private final byte[] miss;

    /**
     * A kind of line.
     *
     * @param start how the line before a value starts
     * @param lengthWord words before the length, counting that of start if a blank ends it
     * @param miss the line that says that there is no such value; of many keys, that there are no more
     */
    LineHead(String start, int lengthWord, String miss) {
        this.start = start.getBytes(StandardCharsets.US_ASCII);
        this.lengthWord = lengthWord;
        this.miss = miss.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public int take(ByteBuffer input) {
        int from = input.position();
        int end = endOfLine(input);
        if (end == input.limit()) {
            return INCOMPLETE;
        }
        int found = is(miss, input, from, end - 1) ? MISS : lengthIn(input, from, end - 1);
        if (found != REFUSED) {
            input.position(end + 1);
        }
        return found;
    }

    /** Where the line at the position of a buffer ends: at a line feed, or at the limit if that has not come yet. */
    static int endOfLine(ByteBuffer input) {
        int end = input.position();
        while (end < input.limit() && input.get(end) != '\n') {
            end++;
        }
        return end;
    }

    /** True if there are these bytes and no others in a part of a buffer. */
    static boolean is(byte[] line, ByteBuffer input, int from, int end) {
        boolean same = end - from == line.length;
        for (int i = 0; same && i < line.length; i++) {
            same = input.get(from + i) == line[i];
        }
        return same;
    }

    private int lengthIn(ByteBuffer input, int from, int end) {
        int at = from;
        for (byte expected : start) {
            if (at >= end || input.get(at++) != expected) {
                return REFUSED;
            }
        }
        for (int word = 1; word < lengthWord && at < end; at++) {
            if (input.get(at) == ' ') {
                word++;
            }
        }
        long length = at < end ? 0 : REFUSED;
        for (; at < end && length >= 0 && input.get(at) != ' '; at++) {
            int digit = input.get(at) - '0';
            length = digit >= 0 && digit <= 9 ? length * 10 + digit : REFUSED;
        }
        return length > Integer.MAX_VALUE ? REFUSED : (int) length;
    }

    @Override
    public String describe(ByteBuffer input) {
        StringBuilder line = new StringBuilder();
        for (int at = input.position(); at < endOfLine(input) && line.length() < MAX_DESCRIPTION; at++) {
            line.append((char) input.get(at));
        }
        return line.toString().strip();
    }
}
