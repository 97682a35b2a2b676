package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.Transport;

/** Event loops on the sockets of the system, by what {@link PortSettings.Io} asks for. No state; any thread. */
final class SystemSockets implements StreamNetwork.Sockets {
    private static final Logger LOG = LoggerFactory.getLogger(SystemSockets.class);

    /** Sizes of the kernel's buffers, and how long silent clients stay, are the kernel's. */
    private static final SocketOptions OPTIONS = new SocketOptions(0, 0, 0, true, true);

    /** What {@code AUTO} takes: the first that works here, or NIO. */
    private static final List<PortSettings.Io> PREFERENCE = List.of(PortSettings.Io.URING, PortSettings.Io.EPOLL);

    @Override
    public Transport open(PortSettings settings, String name, Runnable ended) {
        if (settings.io() != PortSettings.Io.AUTO) {
            return open(settings.io(), name, settings.threads(), ended);
        }
        for (PortSettings.Io io : PREFERENCE) {
            try {
                return open(io, name, settings.threads(), ended);
            } catch (UncheckedIOException e) {
                LOG.debug("{}", e.getMessage());
            }
        }
        return open(PortSettings.Io.NIO, name, settings.threads(), ended);
    }

    /** The kernel has it for a trial, but perhaps not for each loop: memory, or descriptors. */
    private static Transport open(PortSettings.Io io, String name, int threads, Runnable ended) {
        try {
            return switch (io) {
                case URING -> {
                    NettyTransport.requireUring();
                    yield NettyTransport.uring(name, threads, OPTIONS, ended);
                }
                case EPOLL -> {
                    NettyTransport.requireEpoll();
                    yield NettyTransport.epoll(name, threads, OPTIONS, ended);
                }
                case NIO -> NettyTransport.nio(name, threads, OPTIONS, ended);
                case AUTO -> throw new IllegalArgumentException("io=AUTO: expected a choice");
            };
        } catch (IOException | IllegalStateException e) {
            String message =
                    "the memcached port cannot use " + io.name().toLowerCase(Locale.ROOT) + " here: " + e.getMessage();
            throw new UncheckedIOException(message, new IOException(message, e));
        }
    }
}
