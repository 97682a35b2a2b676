/**
 * The server: the memcached port (Netty), the RDMA port, and what a memcached connection does with the store.
 *
 * <p>Event loop threads {@code kv-memcached-*} run the connections and the store; {@code kv-rdma-accept*} and {@code
 * kv-rdma-completions} run the RDMA port. A GET by READ needs none of them. Read {@link org.softrdma.kv.server.KvServer} first,
 * which puts the parts together, then {@code MemcachedConnection} and {@code Commands}, {@code RdmaPort} and {@code
 * RdmaSession}. {@link org.softrdma.kv.server.ServerNetwork} and {@link org.softrdma.kv.server.ServerThreads} are what it needs
 * of its machine.
 */
@NullMarked
package org.softrdma.kv.server;

import org.jspecify.annotations.NullMarked;
