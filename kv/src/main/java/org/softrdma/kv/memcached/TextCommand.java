package org.softrdma.kv.memcached;

/**
 * What a command line asks for: the first word of the line, and what follows it. Lines are told apart by this table, and
 * the reference repeats it.
 */
public enum TextCommand {
    GET("get", "KEY..."),
    /** With cas numbers. */
    GETS("gets", "KEY..."),
    /** Get, and change the expiry. */
    GAT("gat", "EXPTIME KEY..."),
    /** With cas numbers. */
    GATS("gats", "EXPTIME KEY..."),
    /** Followed by the value, as all that have a length. */
    SET("set", "KEY FLAGS EXPTIME LENGTH [noreply]"),
    ADD("add", "KEY FLAGS EXPTIME LENGTH [noreply]"),
    REPLACE("replace", "KEY FLAGS EXPTIME LENGTH [noreply]"),
    /** Flags and exptime are ignored. */
    APPEND("append", "KEY FLAGS EXPTIME LENGTH [noreply]"),
    /** Flags and exptime are ignored. */
    PREPEND("prepend", "KEY FLAGS EXPTIME LENGTH [noreply]"),
    CAS("cas", "KEY FLAGS EXPTIME LENGTH CAS [noreply]"),
    DELETE("delete", "KEY [0] [noreply]"),
    INCR("incr", "KEY DELTA [noreply]"),
    DECR("decr", "KEY DELTA [noreply]"),
    TOUCH("touch", "KEY EXPTIME [noreply]"),
    FLUSH_ALL("flush_all", "[DELAY] [noreply]"),
    VERSION("version", ""),
    VERBOSITY("verbosity", "LEVEL [noreply]"),
    STATS("stats", "[WHAT...]"),
    SLABS("slabs", "WHAT..."),
    LRU("lru", "WHAT..."),
    /** Is not offered. */
    EXTSTORE("extstore", "WHAT..."),
    LRU_CRAWLER("lru_crawler", "WHAT..."),
    CACHE_MEMLIMIT("cache_memlimit", "MEGABYTES [noreply]"),
    WATCH("watch", "[WHAT...]"),
    /** Reads the certificates of TLS again. */
    REFRESH_CERTS("refresh_certs", ""),
    /** Moves the clock of a server under test. */
    DEBUGTIME("debugtime", "SECONDS"),
    SHUTDOWN("shutdown", "[graceful]"),
    QUIT("quit", ""),
    META_NOOP("mn", ""),
    /** See {@link MetaFlags}. */
    META_GET("mg", "KEY [FLAG...]"),
    META_SET("ms", "KEY LENGTH [FLAG...]"),
    META_DELETE("md", "KEY [FLAG...]"),
    META_ARITHMETIC("ma", "KEY [FLAG...]"),
    META_DEBUG("me", "KEY [b]"),
    /** This client wants a queue pair. */
    RDMA_HELLO("rdma", "hello VERSION"),
    /** The keys, addresses and lengths of what locators name, or the lengths of chunks by class. */
    RDMA_ARENAS("rdma", "arenas"),
    /** Write the item into the client's buffer. */
    RGET("rget", "KEY RKEY ADDRESS LENGTH OPAQUE"),
    /** A line that is answered with {@link TextRequest#error()}. */
    INVALID("", ""),
    /** A line after which the connection is closed without an answer. */
    CLOSE("", "");

    private final String word;
    private final String arguments;

    TextCommand(String word, String arguments) {
        this.word = word;
        this.arguments = arguments;
    }

    /** The first word of the line; empty if no word stands for this. */
    public String word() {
        return word;
    }

    /** The whole line, for people: constants are in lower case, and what may be left out is in brackets. */
    public String usage() {
        return arguments.isEmpty() ? word : word + " " + arguments;
    }
}
