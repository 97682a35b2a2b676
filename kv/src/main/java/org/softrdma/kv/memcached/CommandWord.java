package org.softrdma.kv.memcached;

import java.util.Arrays;

/** Tells commands by the first word of a line, which has two letters or more: by these, then by all of it. No state. */
final class CommandWord {
    private static final int LETTER_BITS = 5;
    private static final int LETTER = (1 << LETTER_BITS) - 1;
    private static final TextCommand[][] BY_TWO_LETTERS = new TextCommand[1 << (2 * LETTER_BITS)][0];

    static {
        for (TextCommand each : TextCommand.values()) {
            if (!each.word().isEmpty()) {
                int index = index(each.word().charAt(0), each.word().charAt(1));
                TextCommand[] alike = BY_TWO_LETTERS[index];
                BY_TWO_LETTERS[index] = Arrays.copyOf(alike, alike.length + 1);
                BY_TWO_LETTERS[index][alike.length] = each;
            }
        }
    }

    private CommandWord() {}

    private static int index(int first, int second) {
        return ((first & LETTER) << LETTER_BITS) | (second & LETTER);
    }

    /**
     * The command that a line begins with, whatever follows.
     *
     * @param words at least one, of at least two letters
     * @return INVALID if there is no such command; CLOSE if somebody takes this for an HTTP server
     */
    static TextCommand of(LineWords words) {
        byte[] line = words.bytes();
        int start = words.start(0);
        for (TextCommand each : BY_TWO_LETTERS[index(line[start], line[start + 1])]) {
            if (words.is(0, each.word())) {
                boolean hello = words.count() > 1 && words.is(1, "hello");
                return each == TextCommand.RDMA_HELLO && !hello ? TextCommand.RDMA_ARENAS : each;
            }
        }
        if (words.is(0, "bget")) {
            return TextCommand.GET;
        }
        return words.startsWith(words.count() - 1, "HTTP/") ? TextCommand.CLOSE : TextCommand.INVALID;
    }
}
