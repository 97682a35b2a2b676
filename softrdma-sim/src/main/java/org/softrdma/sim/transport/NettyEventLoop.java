package org.softrdma.sim.transport;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tasks, timers and registration, alike on both transports. */
abstract class NettyEventLoop implements EventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(NettyEventLoop.class);

    final SocketOptions options;
    final OpenSockets sockets;
    private final IoEventLoop loop;
    private final @Nullable ManualIoEventLoop manual;

    NettyEventLoop(IoEventLoop loop, SocketOptions options, OpenSockets sockets) {
        this.loop = loop;
        this.options = options;
        this.sockets = sockets;
        manual = loop instanceof ManualIoEventLoop manualLoop ? manualLoop : null;
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public boolean inLoop() {
        return loop.inEventLoop();
    }

    @Override
    public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
        Future<?> future = loop.schedule(task, delay, unit);
        return () -> future.cancel(false);
    }

    @Override
    public int run(long timeoutNs) {
        if (manual == null) {
            return 0;
        }
        return timeoutNs <= 0 ? manual.runNow() : manual.run(timeoutNs);
    }

    /** Hands an accepted connection over; what fails in that costs this connection, and not the loop. */
    static void hand(Consumer<PendingSocket> accepted, PendingSocket pending) {
        try {
            accepted.accept(pending);
        } catch (RuntimeException | Error e) {
            pending.discard();
            LOG.error("a fault in taking an accepted connection over: it is closed", e);
        }
    }

    /**
     * What is told of a socket's events has failed, or the socket itself: closes it, and says once more that it is ready, so that
     * its owner finds it closed. Never throws, because an Error would end the loop's thread.
     */
    static void failed(StreamSocket socket, SocketEvents events, Throwable cause) {
        try {
            socket.close();
            LOG.error("a fault costs the connection to {}", AddressText.of(socket.remoteAddress()), cause);
            events.ready(true);
        } catch (RuntimeException | Error e) {
            LOG.error("a fault in the end of the connection to {}", AddressText.of(socket.remoteAddress()), e);
        }
    }

    /** Registers on the loop's own thread, where the result is there at once. */
    final IoRegistration register(IoHandle handle) throws IOException {
        Future<IoRegistration> future = loop.register(handle);
        if (!future.isSuccess()) {
            throw new IOException("the socket could not be registered with its event loop", future.cause());
        }
        return future.getNow();
    }
}
