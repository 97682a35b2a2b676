package org.softrdma.kv.server.netty;

import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.IntegerUnixChannelOption;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.spi.SelectorProvider;
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
            return KeptInEpoll.around(EpollIoHandler.newFactory());
        }

        @Override
        ServerChannel tcp(InetAddress local) {
            EpollServerSocketChannel channel = new EpollServerSocketChannel(family(local));
            if (local instanceof Inet6Address) {
                channel.config().setOption(IPV6_V6ONLY, 1);
            }
            return channel;
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
        ServerChannel tcp(InetAddress local) {
            return new NioServerSocketChannel(SelectorProvider.provider(), family(local));
        }

        @Override
        boolean takesBothFamilies(InetAddress local) {
            return local instanceof Inet6Address && local.isAnyLocalAddress();
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

    private static final ChannelOption<Integer> IPV6_V6ONLY = new IntegerUnixChannelOption("IPV6_V6ONLY", 41, 26);

    private static SocketProtocolFamily family(InetAddress local) {
        return local instanceof Inet6Address ? SocketProtocolFamily.INET6 : SocketProtocolFamily.INET;
    }

    abstract @Nullable Throwable obstacleOfNetty();

    /** Why it does not work here, empty if it does. */
    public Optional<String> obstacle() {
        return Optional.ofNullable(obstacleOfNetty()).map(cause -> String.valueOf(cause.getMessage()));
    }

    /** Makes the handler of a loop. */
    abstract IoHandlerFactory handlers();

    /**
     * Listens on a TCP port.
     *
     * @param local the address; a wildcard is of its own family alone, unless {@link #takesBothFamilies}
     */
    abstract ServerChannel tcp(InetAddress local);

    /** True if the socket of a wildcard takes connections of the other family, too: Java's for {@code ::} do. */
    boolean takesBothFamilies(InetAddress local) {
        return false;
    }

    /** Listens on a Unix socket. */
    abstract Class<? extends ServerChannel> unix();

    /** A Unix socket, as {@link #unix} wants it named. */
    SocketAddress address(Path file) {
        return new DomainSocketAddress(file.toFile());
    }
}
