package org.softrdma.kv.server.netty;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * A loop that tells of the Error that ends it. Netty logs it and tells those who wait for the loop's end, both of which need
 * memory, and an Error most likely means that there is none. It does not go on: of the events of the round that failed,
 * Netty's channels would never hear again. Thread: its own.
 */
final class PortLoop extends SingleThreadIoEventLoop {
    private final Consumer<? super Throwable> failed;

    /**
     * Not started.
     *
     * @param failed told on the loop's thread
     */
    PortLoop(IoEventLoopGroup group, Executor executor, IoHandlerFactory handlers, Consumer<? super Throwable> failed) {
        super(group, executor, handlers);
        this.failed = failed;
    }

    @Override
    protected void run() {
        try {
            super.run();
        } catch (Error e) {
            failed.accept(e);
            throw e;
        }
    }
}
