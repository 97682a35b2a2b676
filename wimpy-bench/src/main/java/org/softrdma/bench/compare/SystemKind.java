package org.softrdma.bench.compare;

/** What a system is for the comparison. */
public enum SystemKind {
    /** A store of a paper. */
    DESIGN,
    /** This project's key-value server, GETs by READ. */
    KV_READ,
    /** This project's key-value server by memcached's protocol. */
    KV_TCP,
    /** Real memcached. */
    MEMCACHED,
    /** Real redis. */
    REDIS;

    /** True if the server is a JVM, which gets faster while it runs. */
    public boolean compiles() {
        return this == DESIGN || this == KV_READ || this == KV_TCP;
    }
}
