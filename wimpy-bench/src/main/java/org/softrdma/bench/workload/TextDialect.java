package org.softrdma.bench.workload;

import java.nio.charset.StandardCharsets;

/** How a server is asked over TCP for GETs and PUTs, and what it answers. Keys and values go between the texts. */
public enum TextDialect {
    /** memcached's meta commands. */
    META("mg/ms", "mg ", " v\r\n", "VA ", 1, "", "EN", "HD"),
    /** memcached's classic commands. */
    CLASSIC("get/set", "get ", "\r\n", "VALUE ", 3, "END\r\n", "END", "STORED"),
    /** As classic, with one get for as many keys as are asked for together. */
    MULTI_KEY("multi-key get/set", " ", "", "VALUE ", 3, "END\r\n", "END", "STORED"),
    /** redis, RESP version 2. */
    RESP("GET/SET", "", "\r\n", "$", 0, "", "$-1", "+OK");

    private static final String CRLF = "\r\n";

    private final String label;
    private final String getStart;
    private final String getEnd;
    private final String valueStart;
    private final int lengthWord;
    private final String answerEnd;
    private final String miss;
    private final String stored;

    TextDialect(
            String label,
            String getStart,
            String getEnd,
            String valueStart,
            int lengthWord,
            String answerEnd,
            String miss,
            String stored) {
        this.label = label;
        this.getStart = getStart;
        this.getEnd = getEnd;
        this.valueStart = valueStart;
        this.lengthWord = lengthWord;
        this.answerEnd = answerEnd;
        this.miss = miss;
        this.stored = stored;
    }

    /** The name in tables and results. */
    public String label() {
        return label;
    }

    /** What comes before a key that is wanted. */
    byte[] getStart(int keyLength) {
        return ascii(this == RESP ? "*2\r\n$3\r\nGET\r\n$" + keyLength + CRLF : getStart);
    }

    /** What comes behind it. */
    byte[] getEnd() {
        return ascii(getEnd);
    }

    /** What comes before the first of many keys. */
    byte[] manyStart() {
        return ascii("get");
    }

    /** What comes behind the last of many keys. */
    byte[] manyEnd() {
        return ascii(CRLF);
    }

    /** What comes before the key of a pair. */
    byte[] putStart(int keyLength) {
        return ascii(
                switch (this) {
                    case META -> "ms ";
                    case CLASSIC, MULTI_KEY -> "set ";
                    case RESP -> "*3\r\n$3\r\nSET\r\n$" + keyLength + CRLF;
                });
    }

    /** What comes between its key and its value. */
    byte[] putMiddle(int valueLength) {
        return ascii(
                switch (this) {
                    case META -> " " + valueLength + CRLF;
                    case CLASSIC, MULTI_KEY -> " 0 0 " + valueLength + CRLF;
                    case RESP -> CRLF + "$" + valueLength + CRLF;
                });
    }

    /** What comes behind its value. */
    byte[] putEnd() {
        return ascii(CRLF);
    }

    /** How the line before a value starts. */
    byte[] valueStart() {
        return ascii(valueStart);
    }

    /** Words before the length, counting that of {@link #valueStart} if a blank ends it. */
    int lengthWord() {
        return lengthWord;
    }

    /** Bytes behind a value. */
    int trailerLength(boolean lastOfRequest) {
        return CRLF.length() + (lastOfRequest ? answerEnd.length() : 0);
    }

    /** The line that says that there is no such value; of many keys, that there are no more. */
    byte[] miss() {
        return ascii(miss);
    }

    /** The line that says that a pair was stored. */
    byte[] stored() {
        return ascii(stored);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
