package org.softrdma.kv.client;

/** How a client talks to its server; see {@link KvClient#protocol()} for which of the two it is now. */
public enum KvProtocol {
    /** RDMA if the server and the network can, otherwise PLAIN; decided anew with each connection. */
    AUTO,
    /** GETs by READ; a server that cannot do that is an error. */
    RDMA,
    /** memcached's text protocol over TCP and nothing else: every memcached. */
    PLAIN
}
