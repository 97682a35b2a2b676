package org.softrdma.kv.server.stream;

import io.netty.util.internal.PlatformDependent;
import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.net.transport.Transport;

/** TCP, TLS and Unix sockets by event loops: those of the system, or of a simulation. */
public final class StreamNetwork implements ServerNetwork {
    private static final String THREAD_NAME = "kv-memcached";

    private final Sockets sockets;
    private final long bufferBytes;

    /** Opens the event loops of a port. */
    @FunctionalInterface
    public interface Sockets {
        /**
         * Opens them; the port closes them.
         *
         * @param settings of the port: how many loops, and how they do their I/O
         * @param name of their threads
         * @param ended run when the thread of a loop has ended, also when it was meant to
         * @throws RuntimeException if there are none here; the message says why
         */
        Transport open(PortSettings settings, String name, Runnable ended);
    }

    /** By the sockets of the system. Nothing is open. */
    public StreamNetwork() {
        this(new SystemSockets(), PlatformDependent.maxDirectMemory());
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
        return new StreamPort(sockets, THREAD_NAME, settings, bufferBytes, clients, new EndedLoops(failed));
    }

    @Override
    public long bufferBytes() {
        return bufferBytes;
    }
}
