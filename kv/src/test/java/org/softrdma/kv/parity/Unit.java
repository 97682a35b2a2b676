package org.softrdma.kv.parity;

import java.nio.charset.StandardCharsets;

/**
 * What is sent at once: a request, with its value if it has one.
 *
 * @param text its bytes, each a character; {@link #CAS} stands for the last cas number that this server has told
 * @param value true if a value follows the first line
 */
record Unit(String text, boolean value) {
    /** Stands for the last cas number that a server has told. */
    static final String CAS = "{cas}";

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
