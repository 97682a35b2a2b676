package org.softrdma.streams;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.NetworkUnavailableException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.kv.server.host.UringNetwork;
import org.softrdma.sim.transport.NettyTransport;
import org.softrdma.sim.transport.SocketOptions;
import org.softrdma.sim.transport.Transport;

/** TCP in the clear by io_uring. The service loader makes it; its buffers are direct memory. */
public final class StreamNetwork implements UringNetwork {
    private static final String THREAD_NAME = "kv-memcached";

    /** Sizes of the kernel's buffers, and how long silent clients stay, are the kernel's, as on the other networks. */
    private static final SocketOptions OPTIONS = new SocketOptions(0, 0, 0, true, true);

    /** Nothing is open. */
    public StreamNetwork() {}

    @Override
    public ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed) {
        if (settings.tls() != null || settings.unixSocket() != null) {
            throw new NetworkUnavailableException("it serves TCP in the clear only");
        }
        NettyTransport.uringObstacle().ifPresent(reason -> {
            throw new NetworkUnavailableException(reason);
        });
        EndedLoops ended = new EndedLoops(failed);
        return new StreamPort(open(settings.threads(), ended), settings, bufferBytes(), clients, ended);
    }

    /** The kernel has a ring for a trial, but perhaps not for each loop: memory, or descriptors. */
    private static Transport open(int threads, EndedLoops ended) {
        try {
            return NettyTransport.uring(THREAD_NAME, threads, OPTIONS, ended);
        } catch (IOException e) {
            throw new NetworkUnavailableException(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public long bufferBytes() {
        return PlatformDependent.maxDirectMemory();
    }
}
