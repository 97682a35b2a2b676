package org.softrdma.kv.binary;

import java.nio.charset.StandardCharsets;

/** How a request ended: the status of an answer, and the words that memcached says with it. */
public enum Status {
    OK(0x0000, ""),
    NOT_FOUND(0x0001, "Not found"),
    EXISTS(0x0002, "Data exists for key."),
    TOO_LARGE(0x0003, "Too large."),
    INVALID(0x0004, "Invalid arguments"),
    NOT_STORED(0x0005, "Not stored."),
    NON_NUMERIC(0x0006, "Non-numeric server-side value for incr or decr"),
    AUTHENTICATION_FAILED(0x0020, "Auth failure."),
    AUTHENTICATION_CONTINUES(0x0021, ""),
    UNKNOWN_COMMAND(0x0081, "Unknown command"),
    OUT_OF_MEMORY(0x0082, "Out of memory"),
    /** The binary protocol itself, where it is switched off. */
    NOT_SUPPORTED(0x0083, "Not supported"),
    /** Others keep changing the item, or there are too many connections. */
    BUSY(0x0085, "Busy");

    private final int code;

    @SuppressWarnings("ImmutableEnumChecker") // nobody writes it
    private final byte[] text;

    Status(int code, String text) {
        this.code = code;
        this.text = text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The number in the answer. */
    public int code() {
        return code;
    }

    /** What is said with it; shared, not to be written. */
    byte[] text() {
        return text;
    }
}
