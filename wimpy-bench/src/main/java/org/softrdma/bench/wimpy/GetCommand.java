package org.softrdma.bench.wimpy;

import java.nio.charset.StandardCharsets;

/** How a value is asked for over memcached's text protocol, and what surrounds it in the answer. */
enum GetCommand {
    /** Meta get with the value only, the cheapest form memcached has: {@code VA <length>}. */
    META("mg ", " v\r\n", 1, ""),
    /** Classic get: {@code VALUE <key> <flags> <length>} and {@code END}. */
    CLASSIC("get ", "\r\n", 3, "END\r\n");

    private final String prefix;
    private final String suffix;
    private final int lengthWord;
    private final int trailerLength;

    GetCommand(String prefix, String suffix, int lengthWord, String trailer) {
        this.prefix = prefix;
        this.suffix = suffix;
        this.lengthWord = lengthWord;
        this.trailerLength = "\r\n".length() + trailer.length();
    }

    /** The name in tables and results. */
    String label() {
        return prefix.strip();
    }

    byte[] request(byte[] key) {
        String text = prefix + new String(key, StandardCharsets.US_ASCII) + suffix;
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Which word of the line before a value is its length, from 0. */
    int lengthWord() {
        return lengthWord;
    }

    /** Bytes behind a value. */
    int trailerLength() {
        return trailerLength;
    }
}
