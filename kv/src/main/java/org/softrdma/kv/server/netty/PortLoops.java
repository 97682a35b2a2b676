package org.softrdma.kv.server.netty;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.PortSettings;

/**
 * The event loops of a memcached port, and the sockets that go with them.
 *
 * @param sockets how they do their I/O
 * @param loops running
 */
record PortLoops(PortSockets sockets, EventLoopGroup loops) {
    private static final Logger LOG = LoggerFactory.getLogger(PortLoops.class);

    /**
     * What {@code AUTO} takes: the first of them that works here. Netty's own io_uring is not among them: Netty 4.2.18 never
     * closes a connection that is reset in the middle of a request, and it saved little (docs/studies/performance.md).
     */
    private static final List<PortSockets> PREFERENCE = List.of(PortSockets.EPOLL, PortSockets.NIO);

    /**
     * Opens them.
     *
     * @param choice which way
     * @param threads how many loops
     * @param name of the threads
     * @param failed told of an Error that ends a loop, on its thread
     * @throws UncheckedIOException if what was chosen does not work here
     */
    static PortLoops open(PortSettings.Io choice, int threads, String name, Consumer<? super Throwable> failed) {
        return switch (choice) {
            case URING -> throw new IllegalArgumentException("io=URING: Netty has no part in it");
            case EPOLL -> open(PortSockets.EPOLL, threads, name, failed);
            case NIO -> open(PortSockets.NIO, threads, name, failed);
            case AUTO -> firstOf(PREFERENCE, threads, name, failed);
        };
    }

    private static PortLoops firstOf(
            List<PortSockets> choices, int threads, String name, Consumer<? super Throwable> failed) {
        PortSockets first = choices.getFirst();
        if (choices.size() == 1) {
            return open(first, threads, name, failed);
        }
        try {
            return open(first, threads, name, failed);
        } catch (UncheckedIOException e) {
            LOG.debug("the memcached port does without {}: {}", first, e.getMessage());
            return firstOf(choices.subList(1, choices.size()), threads, name, failed);
        }
    }

    private static PortLoops open(PortSockets sockets, int threads, String name, Consumer<? super Throwable> failed) {
        sockets.obstacle().ifPresent(reason -> {
            throw unusable(sockets, reason, null);
        });
        try {
            ThreadFactory makers = new DefaultThreadFactory(name, true);
            return new PortLoops(sockets, new MultiThreadIoEventLoopGroup(threads, makers, sockets.handlers()) {
                @Override
                protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... arguments) {
                    return new PortLoop(this, executor, handlers, failed);
                }
            });
        } catch (RuntimeException e) {
            // The kernel has epoll, but not for each loop: memory, or descriptors.
            throw unusable(sockets, String.valueOf(e.getMessage()), e);
        }
    }

    private static UncheckedIOException unusable(PortSockets sockets, String reason, @Nullable Throwable cause) {
        String message =
                "the memcached port cannot use " + sockets.name().toLowerCase(Locale.ROOT) + " here: " + reason;
        return new UncheckedIOException(message, new IOException(message, cause));
    }
}
