package org.softrdma.bench.load;

import java.nio.charset.StandardCharsets;

/** How values are asked for over TCP, and what surrounds them in the answer. */
public enum GetCommand {
    /** memcached's meta get with the value only: {@code VA <length>}. */
    META("mg", ""),
    /** memcached's classic get: {@code VALUE <key> <flags> <length>}, and {@code END} behind the value. */
    CLASSIC("get", "END\r\n"),
    /** memcached's classic get of as many keys as the window has: one {@code END} behind all of their values. */
    MULTI("multi-key get", "END\r\n"),
    /** memcached's binary getk: a header, flags and the key before the value, nothing behind it. */
    BINARY("binary getk"),
    /** redis' GET in RESP, version 2: {@code $<length>}. */
    RESP("GET", "");

    private static final String CRLF = "\r\n";

    private final String label;
    private final int trailerLength;
    private final int endLength;

    /** Values behind a line, with an end of line behind them. */
    GetCommand(String label, String end) {
        this.label = label;
        this.trailerLength = CRLF.length();
        this.endLength = end.length();
    }

    /** Values in frames. */
    GetCommand(String label) {
        this.label = label;
        this.trailerLength = 0;
        this.endLength = 0;
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
        return switch (this) {
            case META -> ascii("mg " + text + " v\r\n");
            case CLASSIC -> ascii("get " + text + CRLF);
            case MULTI -> ascii(" " + text);
            case BINARY -> BinaryHead.getk(key);
            case RESP -> ascii("*2\r\n$3\r\nGET\r\n$" + key.length + CRLF + text + CRLF);
        };
    }

    /** What comes behind the keys of a request. */
    byte[] requestEnd() {
        return ascii(this == MULTI ? CRLF : "");
    }

    /** What takes that which comes before a value. */
    AnswerHead head() {
        return switch (this) {
            case META -> new LineHead("VA ", 1, "EN");
            case CLASSIC, MULTI -> new LineHead("VALUE ", 3, "END");
            case BINARY -> new BinaryHead();
            case RESP -> new LineHead("$", 0, "$-1");
        };
    }

    /** Bytes behind a value. */
    int trailerLength(boolean lastOfRequest) {
        return trailerLength + (lastOfRequest ? endLength : 0);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
