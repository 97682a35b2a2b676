package org.softrdma.kv.server.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoOps;

/**
 * Netty's epoll handler, for sockets of which nothing is awaited at times. Netty 4.2.13 to 4.2.20 takes such a socket out of
 * the epoll set and believes that it is still there: the next request fails with ENOENT, and Netty closes the connection with
 * answers unsent. That happens to a client that has shut down its sending side, as soon as all output has gone and then the
 * socket is full again. Here nothing means an edge of nothing, which leaves the socket in the set and raises no event but
 * errors and hang-ups, once. Thread: its loop.
 */
final class KeptInEpoll implements IoHandler {
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLERR.with(EpollIoOps.EPOLLET);

    private final IoHandler handler;

    private KeptInEpoll(IoHandler handler) {
        this.handler = handler;
    }

    /** Wraps the handlers of another factory. */
    static IoHandlerFactory around(IoHandlerFactory factory) {
        return executor -> new KeptInEpoll(factory.newHandler(executor));
    }

    @Override
    public void initialize() {
        handler.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return handler.run(context);
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        return new Kept(handler.register(handle));
    }

    @Override
    public void prepareToDestroy() {
        handler.prepareToDestroy();
    }

    @Override
    public void destroy() {
        handler.destroy();
    }

    @Override
    public void wakeup() {
        handler.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return handler.isCompatible(type);
    }

    private record Kept(IoRegistration registration) implements IoRegistration {
        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // as Netty declares it
        public <T> T attachment() {
            return registration.attachment();
        }

        @Override
        public long submit(IoOps ops) {
            return registration.submit(ops.equals(EpollIoOps.NONE) ? NOTHING : ops);
        }

        @Override
        public boolean isValid() {
            return registration.isValid();
        }

        @Override
        public boolean cancel() {
            return registration.cancel();
        }
    }
}
