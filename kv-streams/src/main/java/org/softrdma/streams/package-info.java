/**
 * The memcached port by io_uring: kv's {@link org.softrdma.kv.server.host.UringNetwork} on the event loops and sockets of
 * softrdma-sim, which a device's own connections use too.
 *
 * <p>Design. A GET costs the port as much for what surrounds its system calls as for the calls, if each connection makes
 * its own and events pass through a pipeline (docs/studies/performance.md). Here
 *
 * <ul>
 *   <li>requests have been received by the ring before a connection is told, and the answers of all connections of a turn
 *       go with the one call at its end ({@link org.softrdma.sim.transport.StreamSocket#gatherLater}). So an answer
 *       counts as sent when it is handed over; a connection hears only if the network did not take all of it
 *       ({@link org.softrdma.kv.server.host.ClientHandler#unsent});
 *   <li>what came is copied once, into a buffer that all connections of a loop share, because requests are short and
 *       used up at once. Only a connection that has stopped, because its client does not read or other connections are
 *       to have their turn, keeps that buffer, and the loop takes another. Those that are kept are limited
 *       ({@code InputBudget}), as on every other network;
 *   <li>buffers of answers are used again by the loop;
 *   <li>long values are sent from where they are in the store, and large requests, after the first bytes of them, are
 *       received by plain calls ({@link org.softrdma.sim.transport.StreamSocket#receiveAhead}), so that nobody fills the
 *       ring's buffers with them.
 * </ul>
 *
 * <p>TLS and Unix sockets are not for it: kv serves them by Netty. Threads: each connection has one loop, whose thread runs
 * everything of it. Read {@link org.softrdma.streams.StreamPort} first.
 */
@NullMarked
package org.softrdma.streams;

import org.jspecify.annotations.NullMarked;
