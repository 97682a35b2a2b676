package org.softrdma.net.transport;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.jspecify.annotations.Nullable;

/** Tasks, timers and registration, the same on both transports. */
abstract class NettyEventLoop implements EventLoop {
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
        return LoopGuard.careful(task);
    }

    @Override
    public void whenBroken(Runnable task) {
        if (loop instanceof EnduringLoop enduring) {
            enduring.whenBroken(task);
        }
    }

    @Override
    public NanoClock clock() {
        return SystemNanoClock.INSTANCE; // the clock by which Netty schedules
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

    /** Registers on the loop's own thread, where the result is there at once. */
    final IoRegistration register(IoHandle handle) throws IOException {
        Future<IoRegistration> future = loop.register(handle);
        if (!future.isSuccess()) {
            throw new IOException("cannot register the socket with its event loop", future.cause());
        }
        return future.getNow();
    }
}
