package org.softrdma.kv.memcached;

/** Tells commands by the words at the start of a line: by the first letter, then by the whole word. No state. */
final class CommandWord {
    private CommandWord() {}

    /**
     * The command that a line begins with, whatever follows.
     *
     * @param words at least one
     * @return INVALID if there is no such command; CLOSE if somebody takes this for an HTTP server
     */
    static TextCommand of(LineWords words) {
        TextCommand command = words.length(0) == 2 && words.first(0) == 'm' ? meta(words) : classic(words);
        return command == TextCommand.INVALID && words.startsWith(words.count() - 1, "HTTP/")
                ? TextCommand.CLOSE
                : command;
    }

    private static TextCommand meta(LineWords words) {
        return switch (words.bytes()[words.start(0) + 1]) {
            case 'n' -> TextCommand.META_NOOP;
            case 'g' -> TextCommand.META_GET;
            case 's' -> TextCommand.META_SET;
            case 'd' -> TextCommand.META_DELETE;
            case 'a' -> TextCommand.META_ARITHMETIC;
            case 'e' -> TextCommand.META_DEBUG;
            default -> TextCommand.INVALID;
        };
    }

    private static TextCommand classic(LineWords words) {
        return switch (words.first(0)) {
            case 'g' -> get(words);
            case 's' -> s(words);
            case 'a' ->
                words.is(0, "add") ? TextCommand.ADD : words.is(0, "append") ? TextCommand.APPEND : TextCommand.INVALID;
            case 'c' ->
                words.is(0, "cas")
                        ? TextCommand.CAS
                        : words.is(0, "cache_memlimit") ? TextCommand.CACHE_MEMLIMIT : TextCommand.INVALID;
            case 'i' -> only(words, "incr", TextCommand.INCR);
            case 'd' -> d(words);
            case 't' -> only(words, "touch", TextCommand.TOUCH);
            case 'r' -> r(words);
            case 'p' -> only(words, "prepend", TextCommand.PREPEND);
            case 'f' -> only(words, "flush_all", TextCommand.FLUSH_ALL);
            case 'v' ->
                words.is(0, "version")
                        ? TextCommand.VERSION
                        : words.is(0, "verbosity") ? TextCommand.VERBOSITY : TextCommand.INVALID;
            case 'q' -> only(words, "quit", TextCommand.QUIT);
            case 'l' -> words.is(0, "lru_crawler") ? TextCommand.LRU_CRAWLER : only(words, "lru", TextCommand.LRU);
            case 'b' -> only(words, "bget", TextCommand.GET);
            case 'e' -> only(words, "extstore", TextCommand.EXTSTORE);
            case 'w' -> only(words, "watch", TextCommand.WATCH);
            default -> TextCommand.INVALID;
        };
    }

    private static TextCommand only(LineWords words, String word, TextCommand command) {
        return words.is(0, word) ? command : TextCommand.INVALID;
    }

    private static TextCommand get(LineWords words) {
        if (words.is(0, "get")) {
            return TextCommand.GET;
        }
        if (words.is(0, "gets")) {
            return TextCommand.GETS;
        }
        if (words.is(0, "gat")) {
            return TextCommand.GAT;
        }
        return only(words, "gats", TextCommand.GATS);
    }

    private static TextCommand s(LineWords words) {
        if (words.is(0, "set")) {
            return TextCommand.SET;
        }
        if (words.is(0, "stats")) {
            return TextCommand.STATS;
        }
        if (words.is(0, "slabs")) {
            return TextCommand.SLABS;
        }
        return only(words, "shutdown", TextCommand.SHUTDOWN);
    }

    private static TextCommand d(LineWords words) {
        if (words.is(0, "delete")) {
            return TextCommand.DELETE;
        }
        if (words.is(0, "decr")) {
            return TextCommand.DECR;
        }
        return only(words, "debugtime", TextCommand.DEBUGTIME);
    }

    private static TextCommand r(LineWords words) {
        if (words.is(0, "replace")) {
            return TextCommand.REPLACE;
        }
        if (words.is(0, "rget")) {
            return TextCommand.RGET;
        }
        if (words.is(0, "refresh_certs")) {
            return TextCommand.REFRESH_CERTS;
        }
        boolean hello = words.count() > 1 && words.is(1, "hello");
        return only(words, "rdma", hello ? TextCommand.RDMA_HELLO : TextCommand.RDMA_ARENAS);
    }
}
