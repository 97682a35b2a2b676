package org.softrdma.bench.workload;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** How a server is asked over TCP for GETs and PUTs, and what it answers. Keys and values go between the texts. */
public enum TcpCommands {
    /** memcached's meta commands: {@code VA <length>} before a value. */
    META("mg", "ms", "HD", "\r\n", ""),
    /** memcached's classic commands: {@code VALUE <key> <flags> <length>} before a value, {@code END} behind it. */
    CLASSIC("get", "set", "STORED", "\r\n", "END\r\n"),
    /** As classic, with one get for as many keys as are asked for together: one {@code END} behind all of their values. */
    MULTI_KEY("multi-key get", "set", "STORED", "\r\n", "END\r\n"),
    /** memcached's binary getk, for GETs only: a header, flags and the key before the value, nothing behind it. */
    BINARY("binary getk", "", "", "", ""),
    /** redis, RESP version 2: {@code $<length>} before a value. */
    RESP("GET", "SET", "+OK", "\r\n", "");

    private static final String CRLF = "\r\n";

    private final String getLabel;
    private final String putLabel;
    private final String stored;
    private final int trailerLength;
    private final int endLength;

    TcpCommands(String getLabel, String putLabel, String stored, String trailer, String end) {
        this.getLabel = getLabel;
        this.putLabel = putLabel;
        this.stored = stored;
        this.trailerLength = trailer.length();
        this.endLength = end.length();
    }

    /** The name of GETs in tables and results. */
    public String getLabel() {
        return getLabel;
    }

    /** The name of GETs and PUTs in tables and results. */
    public String mixLabel() {
        return getLabel + "/" + putLabel;
    }

    /** What comes before the first of many keys. */
    byte[] requestStart() {
        return ascii(this == MULTI_KEY ? "get" : "");
    }

    /** What comes behind the last of many keys. */
    byte[] requestEnd() {
        return ascii(this == MULTI_KEY ? CRLF : "");
    }

    /** What comes before a key that is wanted. */
    byte[] getStart(int keyLength) {
        return switch (this) {
            case META -> ascii("mg ");
            case CLASSIC -> ascii("get ");
            case MULTI_KEY -> ascii(" ");
            case BINARY -> BinaryHead.getk(keyLength);
            case RESP -> ascii("*2\r\n$3\r\nGET\r\n$" + keyLength + CRLF);
        };
    }

    /** What comes behind it. */
    byte[] getEnd() {
        return ascii(
                switch (this) {
                    case META -> " v\r\n";
                    case CLASSIC, RESP -> CRLF;
                    case MULTI_KEY, BINARY -> "";
                });
    }

    /** All that a request says of a key that is wanted. */
    byte[] get(byte[] key) {
        byte[] start = getStart(key.length);
        byte[] end = getEnd();
        return ByteBuffer.allocate(start.length + key.length + end.length)
                .put(start)
                .put(key)
                .put(end)
                .array();
    }

    /** What comes before the key of a pair. */
    byte[] putStart(int keyLength) {
        return ascii(
                switch (this) {
                    case META -> "ms ";
                    case CLASSIC, MULTI_KEY -> "set ";
                    case BINARY -> throw new UnsupportedOperationException(getLabel + ": no PUTs");
                    case RESP -> "*3\r\n$3\r\nSET\r\n$" + keyLength + CRLF;
                });
    }

    /** What comes between its key and its value. */
    byte[] putMiddle(int valueLength) {
        return ascii(
                switch (this) {
                    case META -> " " + valueLength + CRLF;
                    case CLASSIC, MULTI_KEY -> " 0 0 " + valueLength + CRLF;
                    case BINARY -> throw new UnsupportedOperationException(getLabel + ": no PUTs");
                    case RESP -> CRLF + "$" + valueLength + CRLF;
                });
    }

    /** What comes behind its value. */
    byte[] putEnd() {
        return ascii(CRLF);
    }

    /** What takes that which comes before a value. */
    AnswerHead head() {
        return switch (this) {
            case META -> new LineHead("VA ", 1, "EN");
            case CLASSIC, MULTI_KEY -> new LineHead("VALUE ", 3, "END");
            case BINARY -> new BinaryHead();
            case RESP -> new LineHead("$", 0, "$-1");
        };
    }

    /** Bytes behind a value. */
    int trailerLength(boolean lastOfRequest) {
        return trailerLength + (lastOfRequest ? endLength : 0);
    }

    /** The line that says that a pair was stored. */
    byte[] stored() {
        return ascii(stored);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
