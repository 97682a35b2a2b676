package org.softrdma.net.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.softrdma.net.kernel.Descriptor;

/** A listening socket, and what it does when connections wait. Thread: its loop. */
abstract class LinuxAcceptor implements IoHandle, Acceptor {
    private static final int SOCKADDR_BYTES = 128;

    final Socket socket;
    private final LinuxEventLoop loop;
    private final Consumer<EventLoop.PendingSocket> accepted;
    private final SocketAddress local;
    private final IoRegistration registration;
    private final AcceptPause pause;
    private boolean closed;

    /**
     * Drives a listening socket.
     *
     * @param loop that drives it
     * @param socket listening
     * @param local its address
     * @param accepted given each connection
     * @param none ask for no events
     * @param accept ask for connections
     */
    LinuxAcceptor(
            LinuxEventLoop loop,
            Socket socket,
            SocketAddress local,
            Consumer<EventLoop.PendingSocket> accepted,
            IoOps none,
            IoOps accept)
            throws IOException {
        this.loop = loop;
        this.socket = socket;
        this.accepted = accepted;
        this.local = local;
        registration = loop.register(this);
        registration.submit(accept);
        pause = new AcceptPause(loop, local, registration, none, accept);
    }

    /** Accepts all connections that wait. */
    final void acceptAll() {
        try {
            byte[] address = new byte[SOCKADDR_BYTES];
            for (int fd = socket.accept(address); fd >= 0; fd = socket.accept(address)) {
                LoopGuard.hand(accepted, pending(fd));
            }
            pause.succeeded();
        } catch (IOException | RuntimeException | Error e) {
            pause.failed(e);
        }
    }

    /** If there is no memory for it, nobody else would close it. */
    private EventLoop.PendingSocket pending(int descriptor) {
        try {
            return loop.pending(descriptor, !(local instanceof InetSocketAddress));
        } catch (Error e) {
            Descriptor.close(descriptor);
            throw e;
        }
    }

    @Override
    public final SocketAddress localAddress() {
        return local;
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            try {
                registration.cancel();
            } finally {
                loop.closeQuietly(socket);
            }
        }
    }
}
