package org.softrdma.kv.memcached;

/** What a command line asks for. */
public enum TextCommand {
    /** {@code get KEY...}. */
    GET,
    /** {@code gets KEY...}: with cas numbers. */
    GETS,
    /** {@code set KEY FLAGS EXPTIME LENGTH [noreply]}, followed by the value. */
    SET,
    /** {@code delete KEY [0] [noreply]}. */
    DELETE,
    /** {@code version}. */
    VERSION,
    /** {@code stats [WHAT]}. */
    STATS,
    /** {@code quit}. */
    QUIT,
    /** {@code rdma hello VERSION}: this client wants a queue pair. */
    RDMA_HELLO,
    /** {@code rdma arenas}: the keys, addresses and lengths of what locators name. */
    RDMA_ARENAS,
    /** {@code rget KEY RKEY ADDRESS LENGTH OPAQUE}: write the item into the client's buffer. */
    RGET,
    /** A line that is answered with {@link TextRequest#error()}. */
    INVALID,
    /** A line after which the connection is closed without an answer. */
    CLOSE
}
