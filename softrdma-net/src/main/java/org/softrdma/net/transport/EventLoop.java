package org.softrdma.net.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/** One thread that drives sockets, tasks and timers. */
public interface EventLoop {
    /** Runs a task on the loop, soon; ends its wait. Any thread. */
    void execute(Runnable task);

    /** A task that is executed often, in the form that the loop gives each task, so that it is made once. Any thread. */
    default Runnable careful(Runnable task) {
        return task;
    }

    /** What the loop's thread does last if it can no longer go on. Before the first task. */
    default void whenBroken(Runnable task) {}

    /** The clock by which it schedules, and its device waits. Any thread. */
    NanoClock clock();

    /** How threads wait for this loop, if they must not wait by locks and futures. Any thread. */
    default Optional<Waits> waits() {
        return Optional.empty();
    }

    /** True on the loop's thread. */
    boolean inLoop();

    /**
     * Runs a task on the loop later. On the loop.
     *
     * @param task what
     * @param delay how much later
     * @param unit of the delay
     * @return prevents it from running, on the loop too
     */
    Cancellable schedule(Runnable task, long delay, TimeUnit unit);

    /**
     * Begins an outgoing connection. On the loop.
     *
     * @param remote the peer
     * @param events told when there is an outcome, and later of readiness
     * @throws IOException if it fails at once
     */
    StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException;

    /**
     * Listens on TCP. On the loop. The address {@code ::} takes IPv4, too, unless the options say otherwise, which java.nio
     * cannot obey ({@link SocketOptions#ipv6Only}).
     *
     * @param local address and port, 0 for any
     * @param backlog connections that may wait
     * @param accepted given each new connection, which is then {@link #adopt adopted} by some loop of the same transport
     * @throws ListenException if the address cannot be used
     * @throws IOException if there is no socket for it
     */
    Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException;

    /**
     * Listens on a Unix socket for byte streams (unix(7)). On the loop. The socket's file is made with the rights that the
     * process's umask leaves, and stays when the acceptor is closed: rights, moving and deletion are the caller's. Of the
     * options, connections get the sizes of the buffers.
     *
     * @param local where there is no file yet; a path of at most 107 bytes, with java.nio 106
     * @param backlog connections that may wait
     * @param accepted given each new connection, which is then {@link #adopt adopted} by some loop of the same transport
     * @throws ListenException if the path cannot be used
     * @throws IOException if there is no socket for it, or this transport has none of this kind
     */
    default Acceptor listen(UnixDomainSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
            throws IOException {
        throw new IOException("cannot listen on " + local + ": this transport has no Unix sockets");
    }

    /**
     * Takes an accepted connection. On the loop. The first event is raised at once.
     *
     * @param pending from {@link #listen}
     * @param events told of readiness
     * @throws IOException if it is broken already
     */
    StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException;

    /**
     * Manual progress only: runs what is ready, on the owner's thread.
     *
     * @param timeoutNs how long to wait for something; 0 does not wait
     * @return events and tasks handled
     */
    int run(long timeoutNs);

    /**
     * Waits for a descriptor, too, that is none of its sockets: this is raised as long as it can be read, or is the end of a
     * pipe that nobody reads. On the loop.
     *
     * @param descriptor which the caller closes, after it has cancelled this
     * @param readable what is done then
     * @throws IOException if this transport cannot, or it is none to wait for
     */
    default Cancellable watch(int descriptor, Runnable readable) throws IOException {
        throw new IOException(
                "this transport waits for its own sockets only; transport=epoll waits for others as well");
    }

    /** An accepted connection that no loop drives yet. */
    interface PendingSocket {
        /**
         * The peer's address, where the listening socket may have taken connections of both families; null where the socket
         * that was listened on says enough.
         */
        default @Nullable SocketAddress remoteAddress() {
            return null;
        }

        /** Closes a connection that no loop will adopt. */
        void discard();
    }

    /** A scheduled task. */
    interface Cancellable {
        /** Prevents the task from running, if it has not run. */
        void cancel();
    }
}
