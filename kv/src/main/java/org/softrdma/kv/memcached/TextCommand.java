package org.softrdma.kv.memcached;

/** What a command line asks for. */
public enum TextCommand {
    /** {@code get KEY...}. */
    GET,
    /** {@code gets KEY...}: with cas numbers. */
    GETS,
    /** {@code gat EXPTIME KEY...}: get, and change the expiry. */
    GAT,
    /** {@code gats EXPTIME KEY...}: with cas numbers. */
    GATS,
    /** {@code set KEY FLAGS EXPTIME LENGTH [noreply]}, followed by the value. */
    SET,
    /** {@code add}, like set. */
    ADD,
    /** {@code replace}, like set. */
    REPLACE,
    /** {@code append}, like set; flags and exptime are ignored. */
    APPEND,
    /** {@code prepend}, like set; flags and exptime are ignored. */
    PREPEND,
    /** {@code cas KEY FLAGS EXPTIME LENGTH CAS [noreply]}, followed by the value. */
    CAS,
    /** {@code delete KEY [0] [noreply]}. */
    DELETE,
    /** {@code incr KEY DELTA [noreply]}. */
    INCR,
    /** {@code decr KEY DELTA [noreply]}. */
    DECR,
    /** {@code touch KEY EXPTIME [noreply]}. */
    TOUCH,
    /** {@code flush_all [DELAY] [noreply]}. */
    FLUSH_ALL,
    /** {@code version}. */
    VERSION,
    /** {@code verbosity LEVEL [noreply]}. */
    VERBOSITY,
    /** {@code stats [WHAT]}. */
    STATS,
    /** {@code slabs automove LEVEL} or {@code slabs reassign FROM TO}. */
    SLABS,
    /** {@code lru tune|mode|temp_ttl}. */
    LRU,
    /** {@code extstore}, which is not offered. */
    EXTSTORE,
    /** {@code lru_crawler enable|disable|crawl|metadump|mgdump|sleep|tocrawl}. */
    LRU_CRAWLER,
    /** {@code cache_memlimit MEGABYTES [noreply]}. */
    CACHE_MEMLIMIT,
    /** {@code watch [WHAT...]}. */
    WATCH,
    /** {@code refresh_certs}: reads the certificates of TLS again. */
    REFRESH_CERTS,
    /** {@code debugtime SECONDS}: moves the clock of a server under test. */
    DEBUGTIME,
    /** {@code shutdown [graceful]}. */
    SHUTDOWN,
    /** {@code quit}. */
    QUIT,
    /** {@code mn}. */
    META_NOOP,
    /** {@code mg KEY [FLAGS]}: see {@link MetaFlags}. */
    META_GET,
    /** {@code ms KEY LENGTH [FLAGS]}, followed by the value. */
    META_SET,
    /** {@code md KEY [FLAGS]}. */
    META_DELETE,
    /** {@code ma KEY [FLAGS]}. */
    META_ARITHMETIC,
    /** {@code me KEY [b]}. */
    META_DEBUG,
    /** {@code rdma hello VERSION}: this client wants a queue pair. */
    RDMA_HELLO,
    /**
     * {@code rdma arenas}: the keys, addresses and lengths of what locators name, or the lengths of chunks by class.
     */
    RDMA_ARENAS,
    /** {@code rget KEY RKEY ADDRESS LENGTH OPAQUE}: write the item into the client's buffer. */
    RGET,
    /** A line that is answered with {@link TextRequest#error()}. */
    INVALID,
    /** A line after which the connection is closed without an answer. */
    CLOSE
}
