package org.softrdma.kv.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Where memcached clients connect: Netty's threads and sockets. Closed by the server. */
final class MemcachedPort implements AutoCloseable {
    private static final WriteBufferWaterMark OUTPUT_LIMITS = new WriteBufferWaterMark(256 * 1024, 1024 * 1024);
    private static final int BACKLOG = 1024;
    private static final int CLOSE_TIMEOUT_MS = 10_000;

    private final EventLoopGroup loops;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Channel listening;

    MemcachedPort(KvServer server, KvServerContext context) {
        boolean epoll = useEpoll(context.transport());
        IoHandlerFactory io = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        Class<? extends ServerChannel> type = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        loops = new MultiThreadIoEventLoopGroup(context.threads(), new DefaultThreadFactory("kv-memcached", true), io);
        try {
            listening = listen(server, context, type);
        } catch (RuntimeException e) {
            loops.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
            throw e;
        }
    }

    private Channel listen(KvServer server, KvServerContext context, Class<? extends ServerChannel> type) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(type)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, OUTPUT_LIMITS)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channels.add(channel);
                        channel.pipeline().addLast(new MemcachedConnection(server));
                    }
                });
        ChannelFuture bound = bootstrap.bind(context.memcachedAddress()).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new UncheckedIOException(new IOException(
                    "cannot listen on " + context.memcachedAddress() + ": "
                            + bound.cause().getMessage(),
                    bound.cause()));
        }
        return bound.channel();
    }

    private static boolean useEpoll(KvServerContext.Transport transport) {
        if (transport == KvServerContext.Transport.EPOLL) {
            Epoll.ensureAvailability();
        }
        return transport != KvServerContext.Transport.NIO && Epoll.isAvailable();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listening.localAddress();
    }

    /** The threads that run connections and the store. */
    EventLoopGroup loops() {
        return loops;
    }

    /** Closes all sockets and ends the threads: when this returns nobody uses the store any more. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly(CLOSE_TIMEOUT_MS);
        channels.close().awaitUninterruptibly(CLOSE_TIMEOUT_MS);
        loops.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
    }
}
