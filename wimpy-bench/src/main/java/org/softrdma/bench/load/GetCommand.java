package org.softrdma.bench.load;

import java.nio.charset.StandardCharsets;

/** How values are asked for over TCP, and what surrounds them in the answer. */
public enum GetCommand {
    /** memcached's meta get with the value only: {@code VA <length>}. */
    META("mg", "VA ", 1, "", "EN"),
    /** memcached's classic get: {@code VALUE <key> <flags> <length>}, and {@code END} behind the value. */
    CLASSIC("get", "VALUE ", 3, "END\r\n", "END"),
    /** memcached's classic get of as many keys as the window has: one {@code END} behind all of their values. */
    MULTI("multi-key get", "VALUE ", 3, "END\r\n", "END"),
    /** redis' GET in RESP, version 2: {@code $<length>}. */
    RESP("GET", "$", 0, "", "$-1");

    private static final String CRLF = "\r\n";

    private final String label;
    private final String start;
    private final int lengthWord;
    private final String end;
    private final String miss;

    GetCommand(String label, String start, int lengthWord, String end, String miss) {
        this.label = label;
        this.start = start;
        this.lengthWord = lengthWord;
        this.end = end;
        this.miss = miss;
    }

    /** The name in tables and results. */
    public String label() {
        return label;
    }

    /** What comes before the keys of a request. */
    byte[] requestStart() {
        return ascii(this == MULTI ? "get" : "");
    }

    /** What a request says of a key. */
    byte[] requestOf(byte[] key) {
        String text = new String(key, StandardCharsets.US_ASCII);
        return ascii(
                switch (this) {
                    case META -> "mg " + text + " v\r\n";
                    case CLASSIC -> "get " + text + CRLF;
                    case MULTI -> " " + text;
                    case RESP -> "*2\r\n$3\r\nGET\r\n$" + key.length + CRLF + text + CRLF;
                });
    }

    /** What comes behind the keys of a request. */
    byte[] requestEnd() {
        return ascii(this == MULTI ? CRLF : "");
    }

    /** How the line before a value starts. */
    byte[] valueStart() {
        return ascii(start);
    }

    /** The line that says that there is no such value; of many keys, that there are no more. */
    byte[] miss() {
        return ascii(miss);
    }

    /** Words before the length, counting that of {@link #valueStart} if a blank ends it. */
    int lengthWord() {
        return lengthWord;
    }

    /** Bytes behind a value. */
    int trailerLength(boolean lastOfRequest) {
        return CRLF.length() + (lastOfRequest ? end.length() : 0);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
