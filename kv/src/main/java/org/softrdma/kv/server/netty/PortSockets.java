package org.softrdma.kv.server.netty;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A way of doing I/O that Netty has: its handlers and its listening sockets. Any thread. */
public enum PortSockets {
    /** epoll. */
    EPOLL {
        @Override
        @Nullable
        Throwable obstacleOfNetty() {
            return Epoll.unavailabilityCause();
        }

        @Override
        IoHandlerFactory handlers() {
            return EpollIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> tcp() {
            return EpollServerSocketChannel.class;
        }

        @Override
        Class<? extends ServerChannel> unix() {
            return EpollServerDomainSocketChannel.class;
        }
    },
    /** Java's own. */
    NIO {
        @Override
        @Nullable
        Throwable obstacleOfNetty() {
            return null;
        }

        @Override
        IoHandlerFactory handlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> tcp() {
            return NioServerSocketChannel.class;
        }

        @Override
        Class<? extends ServerChannel> unix() {
            return NioServerDomainSocketChannel.class;
        }

        @Override
        SocketAddress address(Path file) {
            return UnixDomainSocketAddress.of(file);
        }
    };

    abstract @Nullable Throwable obstacleOfNetty();

    /** Why it does not work here, empty if it does. */
    public Optional<String> obstacle() {
        return Optional.ofNullable(obstacleOfNetty()).map(cause -> String.valueOf(cause.getMessage()));
    }

    /** Makes the handler of a loop. */
    abstract IoHandlerFactory handlers();

    /** Listens on a TCP port. */
    abstract Class<? extends ServerChannel> tcp();

    /** Listens on a Unix socket. */
    abstract Class<? extends ServerChannel> unix();

    /** A Unix socket, as {@link #unix} wants it named. */
    SocketAddress address(Path file) {
        return new DomainSocketAddress(file.toFile());
    }
}
