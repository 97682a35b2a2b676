/**
 * Byte streams, over TCP and Unix sockets, and the event loops that drive them; the only importer of Netty in this module.
 *
 * <p>Three transports behave alike: epoll and io_uring (Linux, calls by raw address, no allocation) and NIO (portable).
 * How io_uring is used, and its traps: {@code net.uring}. Everything that concerns a socket runs on its event loop. Read {@link org.softrdma.net.transport.StreamSocket} first.
 */
@NullMarked
package org.softrdma.net.transport;

import org.jspecify.annotations.NullMarked;
