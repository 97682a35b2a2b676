package org.softrdma.kv.client;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.kv.memcached.TextProtocol;

/** Asks for lines {@code STAT name value} up to an END. */
final class StatsRequest extends KvRequest<Map<String, String>> {
    /** Of names and values together: more than any server has, and little enough for whatever calls itself one. */
    private static final int MAX_CHARACTERS = 16 << 20;

    private final String what;
    private final Map<String, String> statistics = new LinkedHashMap<>();
    private long characters;

    StatsRequest(String what) {
        this.what = what;
    }

    @Override
    public List<byte[]> keys() {
        return List.of();
    }

    @Override
    void send(KvConnection connection) {
        MemcachedLink link = connection.link();
        link.write(what.isEmpty() ? "stats" : "stats " + what);
        link.write(TextProtocol.CRLF);
        connection.expect(new Exchange(this) {
            @Override
            Next line(String line) {
                if (line.equals("END") || line.equals("RESET") || line.equals("OK")) {
                    complete(Collections.unmodifiableMap(statistics));
                    return Next.NOTHING;
                }
                if (isError(line)) {
                    fail(new KvRefusedException(connection.name() + " refused stats " + what + ": " + line));
                    return Next.NOTHING;
                }
                String[] words = line.split(" ", 3);
                characters += line.length();
                if (!words[0].equals("STAT") || words.length < 2 || characters > MAX_CHARACTERS) {
                    throw connection.unexpected(line, "stats");
                }
                statistics.put(words[1], words.length == 3 ? words[2] : "");
                return Next.LINE;
            }
        });
    }
}
