package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.softrdma.kv.memcached.TextProtocol;

/** The lines of an answer to {@code stats}. Owned by one thread. */
public final class StatLines {
    private final StringBuilder text = new StringBuilder();

    /** None yet. */
    StatLines() {}

    /**
     * Adds a line {@code STAT name value}.
     *
     * @param name without blanks
     * @param value as memcached writes it
     */
    public void add(String name, Object value) {
        text.append("STAT ").append(name).append(' ').append(value).append("\r\n");
    }

    /** The names and values of an answer, in its order. */
    static Map<String, String> values(byte[] answer) {
        Map<String, String> values = new LinkedHashMap<>();
        new String(answer, StandardCharsets.US_ASCII)
                .lines()
                .map(line -> line.split(" ", 3))
                .filter(words -> words.length == 3)
                .forEach(words -> values.put(words[1], words[2]));
        return values;
    }

    /** The answer, with its END. */
    byte[] end() {
        text.append(new String(TextProtocol.END, StandardCharsets.US_ASCII));
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }
}
