package org.softrdma.kv.client;

/** How a client talks to its server; see {@link KvClient#protocol()} for which of the two it is now. */
public enum KvProtocol {
    /** RDMA if the server and the network support it, otherwise PLAIN; decided for each connection. */
    AUTO,
    /** GETs by READ; it is an error if the server does not support it. */
    RDMA,
    /** memcached's text protocol over TCP and nothing else: every memcached. */
    PLAIN
}
