package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;

/** A loop that a test drives, with one socket. */
final class ScriptedLoop implements EventLoop {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final ArrayDeque<Runnable> nextTurn = new ArrayDeque<>();
    private final ScriptedSocket socket = new ScriptedSocket();
    private @Nullable SocketEvents events;

    /** The socket of the connection that it adopts. */
    ScriptedSocket socket() {
        return socket;
    }

    /** A turn in which the socket has an event; returns what it was asked, in order. */
    String turn(boolean mayWrite) {
        socket.calls.clear();
        tasks.addAll(nextTurn);
        nextTurn.clear();
        SocketEvents told = events;
        if (told != null) {
            socket.inTurn = true;
            try {
                told.ready(mayWrite);
            } finally {
                socket.inTurn = false;
            }
            if (socket.calls.contains("later")) {
                socket.calls.add("end of turn");
                told.sentLater();
            }
        }
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        return String.join(", ", socket.calls);
    }

    @Override
    public Runnable careful(Runnable task) {
        return LoopGuard.careful(task);
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public StreamSocket adopt(PendingSocket pending, SocketEvents owner) {
        events = owner;
        return socket;
    }

    @Override
    public NanoClock clock() {
        return SystemNanoClock.INSTANCE;
    }

    @Override
    public boolean inLoop() {
        return true;
    }

    @Override
    public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
        if (delay > 0) {
            return () -> {}; // no time passes
        }
        nextTurn.add(task);
        return () -> nextTurn.remove(task);
    }

    @Override
    public StreamSocket connect(InetSocketAddress remote, SocketEvents owner) throws IOException {
        throw new IOException("not scripted");
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException {
        throw new IOException("not scripted");
    }

    @Override
    public int run(long timeoutNs) {
        return 0;
    }
}
