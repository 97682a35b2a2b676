/**
 * The memcached port on Netty: TCP, TLS and Unix sockets with epoll or NIO. No other package of kv uses Netty.
 *
 * <p>Event loop threads {@code kv-memcached-*} run the connections and the store. Read {@link
 * org.softrdma.kv.server.netty.MemcachedPort} first, then {@link org.softrdma.kv.server.netty.NettyConnection}.
 */
@NullMarked
package org.softrdma.kv.server.netty;

import org.jspecify.annotations.NullMarked;
