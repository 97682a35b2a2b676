package org.softrdma.kv.server.stream;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.NetworkUnavailableException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.Transport;

/** TCP in the clear by event loops: those of io_uring, or of a simulation. */
public final class StreamNetwork implements ServerNetwork {
    private static final String THREAD_NAME = "kv-memcached";

    /** Sizes of the kernel's buffers, and how long silent clients stay, are the kernel's, as on the other networks. */
    private static final SocketOptions OPTIONS = new SocketOptions(0, 0, 0, true, true);

    private final Sockets sockets;
    private final long bufferBytes;

    /** Opens the event loops of a port. */
    @FunctionalInterface
    public interface Sockets {
        /**
         * Opens them; the port closes them.
         *
         * @param name of their threads
         * @param threads how many loops
         * @param ended run when the thread of a loop has ended, also when it was meant to
         * @throws NetworkUnavailableException if there are none here; another network may serve the port
         */
        Transport open(String name, int threads, Runnable ended);
    }

    /** By io_uring. Nothing is open. */
    public StreamNetwork() {
        this(StreamNetwork::uring, PlatformDependent.maxDirectMemory());
    }

    /**
     * By other event loops.
     *
     * @param sockets opens them
     * @param bufferBytes that the buffers of all connections may take, in direct memory
     */
    public StreamNetwork(Sockets sockets, long bufferBytes) {
        this.sockets = sockets;
        this.bufferBytes = bufferBytes;
    }

    @Override
    public ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed) {
        if (settings.tls() != null || settings.unixSocket() != null) {
            throw new NetworkUnavailableException("it serves TCP in the clear only");
        }
        EndedLoops ended = new EndedLoops(failed);
        Transport opened = sockets.open(THREAD_NAME, settings.threads(), ended);
        return new StreamPort(opened, settings, bufferBytes, clients, ended);
    }

    /** The kernel has a ring for a trial, but perhaps not for each loop: memory, or descriptors. */
    private static Transport uring(String name, int threads, Runnable ended) {
        NettyTransport.uringObstacle().ifPresent(reason -> {
            throw new NetworkUnavailableException(reason);
        });
        try {
            return NettyTransport.uring(name, threads, OPTIONS, ended);
        } catch (IOException e) {
            throw new NetworkUnavailableException(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public long bufferBytes() {
        return bufferBytes;
    }
}
