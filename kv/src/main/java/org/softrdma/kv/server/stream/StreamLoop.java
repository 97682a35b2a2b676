package org.softrdma.kv.server.stream;

import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.tls.TlsPort;
import org.softrdma.net.transport.EventLoop;

/** A loop and its connections. The loop's thread, unless a method says otherwise. */
final class StreamLoop {
    private static final Logger LOG = LoggerFactory.getLogger(StreamLoop.class);

    private final EventLoop loop;
    private final LoopBuffers buffers;
    private final Function<? super ClientChannel, ? extends ClientHandler> clients;

    /** In the order in which they came, so that a simulation closes them in the same order each time. */
    private final Set<StreamChannel> channels = new LinkedHashSet<>();

    /**
     * Without connections. Any thread.
     *
     * @param loop which
     * @param inputBudget of all connections
     * @param bufferBytes memory for the buffers of this loop
     * @param clients makes what runs the requests of a connection
     */
    StreamLoop(
            EventLoop loop,
            InputBudget inputBudget,
            long bufferBytes,
            Function<? super ClientChannel, ? extends ClientHandler> clients) {
        this.loop = loop;
        this.buffers = new LoopBuffers(ByteBufAllocator.DEFAULT, inputBudget, bufferBytes);
        this.clients = clients;
    }

    /** The loop. Any thread. */
    EventLoop loop() {
        return loop;
    }

    /**
     * Takes a connection, soon. Any thread.
     *
     * @param tls null for bytes in the clear
     */
    void take(EventLoop.PendingSocket pending, @Nullable TlsPort tls) {
        loop.execute(() -> adopt(pending, tls));
    }

    private void adopt(EventLoop.PendingSocket pending, @Nullable TlsPort tls) {
        StreamChannel channel;
        try {
            channel = new StreamChannel(loop, buffers, clients, channels::remove);
        } catch (RuntimeException | Error e) {
            pending.discard();
            throw e;
        }
        try {
            channels.add(channel);
            channel.adopt(pending, tls);
        } catch (IOException e) {
            LOG.debug("a connection has ended before it was served: {}", e.getMessage());
            channel.close();
        } catch (RuntimeException | Error e) {
            pending.discard();
            channel.close();
            throw e;
        }
    }

    /** Closes all connections, and says when they have ended. Any thread; no connection may be taken any more. */
    void close(Runnable closed) {
        runLast(
                () -> List.copyOf(channels).forEach(StreamLoop::close),
                () -> runLast(buffers::close, closed)); // behind the ends of the channels
    }

    private static void close(StreamChannel channel) {
        try {
            channel.close();
        } catch (RuntimeException | Error e) {
            LOG.error("closing a connection failed", e);
        }
    }

    /**
     * Runs a task, and another one whatever comes of it: on the loop's thread, or, when that has ended and nobody else can
     * be at work here, on the caller's. Any thread.
     */
    void runLast(Runnable task, Runnable then) {
        Runnable both = () -> {
            try {
                task.run();
            } finally {
                then.run();
            }
        };
        try {
            loop.execute(both);
        } catch (RejectedExecutionException e) {
            both.run();
        }
    }
}
