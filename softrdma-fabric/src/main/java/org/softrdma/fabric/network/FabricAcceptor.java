package org.softrdma.fabric.network;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.LoopGuard;

/** A listening socket of the network. */
final class FabricAcceptor implements Acceptor {
    private final InetSocketAddress key;
    private final InetSocketAddress local;
    private final Settings settings;
    private final ArrayDeque<FabricSocket> waiting = new ArrayDeque<>();
    private boolean closed;

    /**
     * How it listens.
     *
     * @param backlog connections that may wait
     * @param accepted given each new one
     * @param open counts sockets
     * @param closed told when it is closed
     */
    record Settings(
            int backlog, Consumer<EventLoop.PendingSocket> accepted, OpenCount open, Consumer<FabricAcceptor> closed) {}

    /** An accepted connection that no loop drives yet. */
    record Pending(FabricSocket socket) implements EventLoop.PendingSocket {
        @Override
        public void discard() {
            socket.close();
        }
    }

    FabricAcceptor(InetSocketAddress key, InetSocketAddress local, Settings settings) {
        this.key = key;
        this.local = local;
        this.settings = settings;
        settings.open().opened();
    }

    /** Host and port. */
    InetSocketAddress key() {
        return key;
    }

    OpenCount openCount() {
        return settings.open();
    }

    boolean isFull() {
        return waiting.size() >= settings.backlog();
    }

    void arrived(FabricSocket socket) {
        waiting.addLast(socket);
    }

    // ---- the loop

    boolean hasEvent() {
        return !closed && !waiting.isEmpty();
    }

    void raise() {
        LoopGuard.hand(settings.accepted(), new Pending(waiting.removeFirst()));
    }

    // ---- the device

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            settings.open().closed();
            settings.closed().accept(this);
            waiting.forEach(FabricSocket::abort);
            waiting.clear();
        }
    }
}
