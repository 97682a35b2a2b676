/**
 * io_uring by system calls: rings that are mapped, ports (descriptors with requests in the kernel) and the loop that
 * drives them. Knows neither connections nor Netty; {@code net.transport} makes a transport of it.
 *
 * <p>Design. A <i>turn</i> of the loop takes the completions that are there, tells each port that has something, and
 * enters the kernel once: that call submits what the turn has queued (one send for each port, and what arms receives)
 * and brings the completions of the next turn. A loop with nothing to do waits in such a call. The traps, and what is
 * done about them:
 *
 * <ul>
 *   <li><b>Registered memory.</b> A send names memory that may be deregistered as soon as the batch is over. With
 *       MSG_DONTWAIT it is over when io_uring_enter returns: complete, short, or EAGAIN. Without it the kernel waits
 *       for room with the address in its hands, and sends what is written there later. So every send has the flag; the
 *       call that submits sends does not wait for anything else, because the batch, and a deregistration that waits for
 *       its end, would wait for peers; and {@code RingLoop.flush} looks that each has its completion before anybody is told.
 *       No IOSQE_ASYNC, IO_LINK, IO_DRAIN, SQPOLL or SEND_ZC: each of them lets a request outlive that call.
 *   <li><b>Receiving.</b> A multishot receive puts bytes into buffers that the loop has provided, a fixed number for all
 *       its ports. That suits small messages. It cannot put a large payload where it belongs, and whoever has bytes in
 *       those buffers keeps them from others. So a port begins with a poll, as of edge-triggered epoll, and plain
 *       receive calls; it receives ahead only after it was found empty several times without a large payload, and stops
 *       as soon as one comes. If no buffer is left (ENOBUFS) the port goes back to polling: that costs calls, and never
 *       the connection.
 *   <li><b>Room.</b> The kernel adds POLLRDHUP to every poll. A poll for POLLOUT that is over with its first event would be
 *       over at once, for ever, while a peer that sends no more does not read. So that poll is by edges, too, and is
 *       cancelled when there is room.
 *   <li><b>Order.</b> While a multishot receive is armed, nothing else receives from that descriptor: the kernel may hold
 *       earlier bytes that no completion has told of.
 *   <li><b>Empty or not.</b> An edge is raised once. A receive that gets fewer bytes than it asked for has found the descriptor
 *       empty only if it was a plain call: what came ahead ends where the armed receive ended, and the descriptor may hold
 *       more, of which an edge has told already. So a port remembers an edge until a plain call was short, or a receive is
 *       armed ({@code InputLeft}).
 *   <li><b>Closing.</b> An armed request holds its file: close(2) alone would leave the connection, or the listening
 *       port, open. A port cancels its requests and waits for their last completions before its owner closes the
 *       descriptor. A completion names slot and generation, so a late one concerns nobody.
 *   <li><b>One thread.</b> With SINGLE_ISSUER and DEFER_TASKRUN the kernel works for the ring only while its thread is in
 *       io_uring_enter, and says in mapped memory whether there is work. So a thread that polls pays for a call only if
 *       something has come. Other threads wake a waiting loop by an eventfd.
 *   <li><b>Full queues.</b> The submission queue is emptied when it is full. Completions that do not fit are kept by the
 *       kernel, which ends multishot requests then: they are armed again. If the kernel had no memory to keep
 *       one (EBADR), every port fails.
 * </ul>
 *
 * <p>Thread: the loop's, except {@link org.softrdma.net.uring.RingLoop#wake}. Read {@link
 * org.softrdma.net.uring.RingLoop} first.
 */
@NullMarked
package org.softrdma.net.uring;

import org.jspecify.annotations.NullMarked;
