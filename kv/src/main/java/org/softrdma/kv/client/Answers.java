package org.softrdma.kv.client;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What the one-line answers of memcached mean. Each gives null for a line that is no answer to its command. */
final class Answers {
    private static final String VERSION = "VERSION ";

    private Answers() {}

    static @Nullable SetStatus stored(String line) {
        return switch (line) {
            case "STORED" -> SetStatus.STORED;
            case "NOT_STORED" -> SetStatus.NOT_STORED;
            case "EXISTS" -> SetStatus.EXISTS;
            case "NOT_FOUND" -> SetStatus.NOT_FOUND;
            case "SERVER_ERROR out of memory storing object" -> SetStatus.OUT_OF_MEMORY;
            case "SERVER_ERROR object too large for cache" -> SetStatus.TOO_LARGE;
            default -> null;
        };
    }

    static @Nullable Boolean deleted(String line) {
        return either(line, "DELETED");
    }

    static @Nullable Boolean touched(String line) {
        return either(line, "TOUCHED");
    }

    static @Nullable Boolean ok(String line) {
        return line.equals("OK") ? Boolean.TRUE : null;
    }

    static @Nullable OptionalLong number(String line) {
        if (line.equals("NOT_FOUND")) {
            return OptionalLong.empty();
        }
        try {
            // memcached fills a number that became shorter up with blanks, but not in its answer; be lenient.
            return OptionalLong.of(Long.parseUnsignedLong(line.strip()));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    static @Nullable String version(String line) {
        return line.startsWith(VERSION) ? line.substring(VERSION.length()) : null;
    }

    private static @Nullable Boolean either(String line, String yes) {
        if (line.equals(yes)) {
            return Boolean.TRUE;
        }
        return line.equals("NOT_FOUND") ? Boolean.FALSE : null;
    }
}
