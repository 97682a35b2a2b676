package org.softrdma.sim.transport;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

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
        loop.execute(careful(task));
    }

    @Override
    public Runnable careful(Runnable task) {
        return task instanceof Careful ? task : new Careful(task);
    }

    /**
     * A task out of which nothing comes: Netty logs what does, which also fails when there is no memory, and that would end the loop's
     * thread.
     */
    private record Careful(Runnable task) implements Runnable {
        @Override
        public void run() {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log("a fault in a task of an event loop", e);
            }
        }
    }

    private static void log(String what, Throwable cause) {
        FaultLog.tell(LOG, Level.ERROR, what, cause);
    }

    @Override
    public NanoClock clock() {
        return SystemNanoClock.INSTANCE; // by which Netty schedules, too
    }

    @Override
    public boolean inLoop() {
        return loop.inEventLoop();
    }

    @Override
    public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
        Future<?> future = loop.schedule(careful(task), delay, unit);
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
            log("a fault in taking an accepted connection over: it is closed", e);
        }
    }

    /**
     * What is told of a socket's events has failed, or the socket itself: closes it, and says once more that it is ready, so that
     * its owner finds it closed. Never throws, because an Error would end the loop's thread.
     */
    static void failed(StreamSocket socket, SocketEvents events, Throwable cause) {
        try {
            socket.close();
        } catch (RuntimeException | Error e) {
            log("a fault while a socket was closed", e);
        }
        try {
            events.ready(true);
        } catch (RuntimeException | Error e) {
            log("a fault in the end of a connection", e);
        }
        log("a fault costs a connection", cause); // last: its owner is to be told, whatever becomes of the words
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
