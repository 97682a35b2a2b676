/**
 * The memcached port: a {@link org.softrdma.kv.server.host.ServerNetwork} on the event loops and sockets of softrdma-net
 * (io_uring, epoll or NIO), which the software RNIC uses too. The same port runs on the simulated network, on loops that
 * implement the same interfaces ({@link org.softrdma.kv.server.stream.StreamNetwork.Sockets}).
 *
 * <p>Design. What a GET costs a port beside the store is system calls, and the way to them. So
 *
 * <ul>
 *   <li>short requests are received by the ring before a connection is told, and short answers of up to 32 connections
 *       go with one call at the end of the turn ({@link org.softrdma.net.transport.StreamSocket#gatherLater}). Such an
 *       answer counts as sent when it is handed over; a connection hears only if the network did not take all of it
 *       ({@link org.softrdma.kv.server.host.ClientHandler#unsent}). More than 64 KiB is sent at once;
 *   <li>what came is copied once, into a buffer that all connections of a loop share, because requests are short and
 *       used up at once. Only a connection that has stopped, because its client does not read or other connections are
 *       to have their turn, keeps that buffer, and the loop takes another. Those that are kept are limited
 *       ({@code InputBudget});
 *   <li>buffers of answers are used again by the loop;
 *   <li>long values are sent from where they are in the store, and large requests, after the first bytes of them, are
 *       received by plain calls ({@link org.softrdma.net.transport.StreamSocket#receiveAhead}), so that nobody fills the
 *       ring's buffers with them.
 * </ul>
 *
 * <p>TLS is a socket before the socket ({@link org.softrdma.kv.server.stream.TlsSocket}). Threads: each connection has one loop,
 * {@code kv-memcached-*}, whose thread runs everything of it. Read {@link org.softrdma.kv.server.stream.StreamPort} first.
 */
@NullMarked
package org.softrdma.kv.server.stream;

import org.jspecify.annotations.NullMarked;
