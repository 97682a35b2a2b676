package org.softrdma.kv.memcached;

import java.util.Arrays;

/**
 * The flags behind the key of a meta command, each a letter with or without an argument, checked in memcached's order.
 * Reused: what it says holds until the next line is parsed.
 */
public final class MetaFlags {
    private static final int LETTERS = 127;
    private static final int NONE = -1;
    private static final int MAX_OPAQUE_LENGTH = 32;
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    private static final char PADDING = '=';
    private static final int MOST_PADDING = 2;
    private static final int GROUP_LETTERS = 4;
    private static final int LETTER_BITS = 6;
    private static final String KNOWN = "bcCDEfFhIJklLMNOPqRstTuv";
    private static final byte[] NO_ERROR = {};
    private static final byte[] DUPLICATE = TextProtocol.line("CLIENT_ERROR duplicate flag");
    private static final byte[] INVALID = TextProtocol.line("CLIENT_ERROR invalid flag");
    private static final byte[] BAD_KEY = TextProtocol.line("CLIENT_ERROR error decoding key");
    private static final byte[] BAD_TOKEN = TextProtocol.line("CLIENT_ERROR bad token in command line format");
    private static final byte[] BAD_MODE_LENGTH = TextProtocol.line("CLIENT_ERROR incorrect length for M token");
    private static final byte[] BAD_INITIAL = TextProtocol.line("CLIENT_ERROR invalid numeric initial value");
    private static final byte[] BAD_DELTA = TextProtocol.line("CLIENT_ERROR invalid numeric delta value");
    static final byte[] LONG_OPAQUE = TextProtocol.line("CLIENT_ERROR opaque token too long");

    private final LineWords words;
    private final int[] positions = new int[LETTERS];
    private int firstFlag;

    MetaFlags(LineWords words) {
        this.words = words;
    }

    /**
     * Reads the flags; afterwards a key in base 64 is decoded in its place.
     *
     * @param first the first word that is a flag
     * @param key the word that is the key
     * @return the line that answers a fault, or an empty one
     */
    byte[] parse(int first, int key) {
        firstFlag = first;
        Arrays.fill(positions, NONE);
        byte[] error = NO_ERROR;
        for (int i = first; i < words.count(); i++) {
            int letter = words.first(i);
            if (letter < 0 || letter >= LETTERS || positions[letter] != NONE) {
                return DUPLICATE;
            }
            if (KNOWN.indexOf(letter) < 0) {
                return INVALID;
            }
            positions[letter] = i;
            byte[] fault = check((char) letter, i, key);
            if (fault.length > 0 && (error.length == 0 || letter != 'F')) { // of F memcached says nothing itself
                error = fault;
            }
        }
        return error;
    }

    private byte[] check(char letter, int word, int key) {
        return switch (letter) {
            case 'b' -> decodeKey(key) ? NO_ERROR : BAD_KEY;
            case 'N', 'T', 'R' -> words.isSigned64(word, 1) ? NO_ERROR : BAD_TOKEN;
            case 'C', 'E' -> words.isUnsigned64(word, 1) ? NO_ERROR : BAD_TOKEN;
            case 'F' -> words.isUnsigned64(word, 1) ? NO_ERROR : TextProtocol.BAD_FORMAT;
            case 'J' -> words.isUnsigned64(word, 1) ? NO_ERROR : BAD_INITIAL;
            case 'D' -> words.isUnsigned64(word, 1) ? NO_ERROR : BAD_DELTA;
            case 'M' -> words.length(word) == 2 ? NO_ERROR : BAD_MODE_LENGTH;
            default -> NO_ERROR;
        };
    }

    /**
     * Decodes a key in its place, like memcached: what is no letter of base 64 counts as nothing, and the rest must be
     * whole groups of four. False if it is not, and the key is of no use any more.
     */
    boolean decodeKey(int key) {
        byte[] bytes = words.bytes();
        int start = words.start(key);
        int end = words.end(key);
        int letters = 0;
        for (int i = start; i < end; i++) {
            letters += letter(bytes[i]) == NONE ? 0 : 1;
        }
        if (letters == 0 || letters % GROUP_LETTERS != 0) {
            return false;
        }
        int to = start;
        int group = 0;
        int taken = 0;
        int padding = 0;
        for (int i = start; i < end && (padding == 0 || taken > 0); i++) {
            int letter = letter(bytes[i]);
            if (letter != NONE) {
                padding += bytes[i] == PADDING ? 1 : 0;
                group = (group << LETTER_BITS) | letter;
                taken = (taken + 1) % GROUP_LETTERS;
                if (taken == 0) {
                    bytes[to++] = (byte) (group >> (2 * Byte.SIZE));
                    bytes[to++] = (byte) (group >> Byte.SIZE);
                    bytes[to++] = (byte) group;
                    group = 0;
                }
            }
        }
        words.shorten(key, to - start - padding);
        return padding <= MOST_PADDING;
    }

    private static int letter(byte c) {
        return c == PADDING ? 0 : ALPHABET.indexOf(c);
    }

    /** True if the client wants more to be repeated than may be: a fault, but the last one to be looked for. */
    boolean hasLongOpaque() {
        return has('O') && words.length(positions['O']) > MAX_OPAQUE_LENGTH;
    }

    /** True if a command knows the mode. */
    boolean hasKnownMode(TextCommand which) {
        String known = which == TextCommand.META_SET ? "SEAPRseapr" : "IDid+-";
        boolean taken = which == TextCommand.META_SET || which == TextCommand.META_ARITHMETIC;
        return !taken || mode() == 0 || known.indexOf(mode()) >= 0;
    }

    /** Number of flags. */
    public int count() {
        return words.count() - firstFlag;
    }

    /**
     * The letter of a flag, in the order in which they came: answers keep it.
     *
     * @param index 0 to {@link #count()} - 1
     */
    public char letter(int index) {
        return (char) words.first(firstFlag + index);
    }

    /** True if a flag is there. */
    public boolean has(char letter) {
        return positions[letter] != NONE;
    }

    /** The number behind a flag that is there, as the parser has checked it for that letter. */
    public long number(char letter) {
        return words.number(positions[letter], 1);
    }

    /** The mode of {@code ms} and {@code ma}, or 0. */
    public char mode() {
        return has('M') ? (char) words.bytes()[words.start(positions['M']) + 1] : 0;
    }

    /**
     * Where the bytes of a flag start in {@link TextRequest#bytes()}, its letter first.
     *
     * @param index 0 to {@link #count()} - 1
     */
    public int offset(int index) {
        return words.start(firstFlag + index);
    }

    /**
     * Bytes of a flag with its letter.
     *
     * @param index 0 to {@link #count()} - 1
     */
    public int length(int index) {
        return words.length(firstFlag + index);
    }
}
