package org.softrdma.kv.message;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Why a server rejects a connect: the private data of the rejection, ASCII text for people. At most 56 bytes: every
 * device with private data carries that much.
 */
public enum Refusal {
    /** No version 2 hello in the private data. */
    NO_TOKEN("the connect shows no token of version 2"),
    /** Unknown, shown before, too old, or of a connection that has ended. */
    BAD_TOKEN("the token is unknown, used or too old"),
    /** The limit is reached. */
    TOO_MANY("there are too many queue pairs"),
    /** Queue pairs of this address used wrong keys. */
    PAUSED("this address used wrong keys and has to wait"),
    /** The socket takes connections over IPv4, and the server is not meant to. */
    NOT_LISTENING("the server does not listen on IPv4");

    private static final int LONGEST = 148;

    private final String text;

    Refusal(String text) {
        this.text = text;
    }

    /** For people. */
    public String text() {
        return text;
    }

    /**
     * What goes with the rejection.
     *
     * @param maxPrivateData of the device; without private data nothing goes with it
     */
    public byte[] privateData(int maxPrivateData) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return Arrays.copyOf(bytes, Math.min(bytes.length, maxPrivateData));
    }

    /**
     * The text that came with a rejection, which may be padded with zeros; empty if it is none.
     *
     * @param privateData from a server, it may be anything
     */
    public static String textOf(byte[] privateData) {
        int length = 0;
        while (length < privateData.length && privateData[length] != 0) {
            if (length == LONGEST || privateData[length] < ' ' || privateData[length] > '~') {
                return "";
            }
            length++;
        }
        return new String(privateData, 0, length, StandardCharsets.US_ASCII);
    }
}
