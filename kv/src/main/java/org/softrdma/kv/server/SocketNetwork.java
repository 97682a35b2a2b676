package org.softrdma.kv.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.NetworkUnavailableException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.kv.server.netty.NettyNetwork;
import org.softrdma.kv.server.stream.StreamNetwork;

/** Sockets of the system, by what {@link PortSettings.Io} asks for: io_uring where it works, otherwise Netty. */
final class SocketNetwork implements ServerNetwork {
    private static final Logger LOG = LoggerFactory.getLogger(SocketNetwork.class);

    private final StreamNetwork uring = new StreamNetwork();
    private final NettyNetwork netty = new NettyNetwork();

    @Override
    public ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed) {
        return switch (settings.io()) {
            case EPOLL, NIO -> netty.listen(settings, clients, failed);
            case AUTO -> {
                try {
                    yield uring.listen(settings, clients, failed);
                } catch (NetworkUnavailableException e) {
                    LOG.debug("the memcached port does without io_uring: {}", e.getMessage());
                    yield netty.listen(settings, clients, failed);
                }
            }
            case URING -> {
                try {
                    yield uring.listen(settings, clients, failed);
                } catch (NetworkUnavailableException e) {
                    String message = "the memcached port cannot use uring here: " + e.getMessage();
                    throw new UncheckedIOException(message, new IOException(message, e));
                }
            }
        };
    }

    @Override
    public long bufferBytes() {
        return netty.bufferBytes();
    }
}
