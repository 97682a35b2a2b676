package org.softrdma.kv.parity;

import java.nio.charset.StandardCharsets;

/**
 * What is sent at once: a request, with its value if it has one.
 *
 * @param text its bytes, each a character; {@link #CAS} and {@link #BINARY_CAS} stand for the last cas number that this server has told
 * @param value true if a value follows the first line
 */
record Unit(String text, boolean value) {
    /** Stands for the last cas number that a server has told. */
    static final String CAS = "{cas}";

    /** Stands for the same in eight bytes, of the same length. */
    static final String BINARY_CAS = "{binCAS}";

    /** No cas number, in eight bytes. */
    static final String NO_BINARY_CAS = bigEndian(0, Long.BYTES);

    /** A cas number that both servers have given away long ago ({@link Talk} sees to that), and that no item has now. */
    static final String OLDER_CAS = "100";

    static Unit line(String line) {
        return new Unit(line + "\r\n", false);
    }

    static Unit withValue(String line, String value) {
        return new Unit(line + "\r\n" + value + "\r\n", true);
    }

    /** Its bytes for a server that has told this cas number last. */
    byte[] bytes(long cas) {
        return text.replace(CAS, Long.toString(cas)).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** A number in bytes, each a character. */
    static String bigEndian(long number, int length) {
        StringBuilder bytes = new StringBuilder();
        for (int i = length - 1; i >= 0; i--) {
            bytes.append((char) (number >>> (i * Byte.SIZE) & 0xff));
        }
        return bytes.toString();
    }

    /** For people: what is not ASCII is escaped. */
    @Override
    public String toString() {
        return visible(text);
    }

    static String visible(String text) {
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '\r' -> shown.append("\\r");
                case '\n' -> shown.append("\\n");
                case '\\' -> shown.append("\\\\");
                default -> {
                    if (c < ' ' || c > '~') {
                        shown.append(String.format("\\x%02x", (int) c));
                    } else {
                        shown.append(c);
                    }
                }
            }
        }
        return shown.toString();
    }
}
