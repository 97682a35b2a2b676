package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.PortInUseException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.ListenException;
import org.softrdma.net.transport.Transport;

/**
 * An open port: listening sockets on the first loop, and connections that the loops take by turns. Opened and closed by the
 * server, not by a loop's thread.
 */
final class StreamPort implements ServerPort {
    private final Transport sockets;
    private final EndedLoops ended;
    private final List<StreamLoop> loops = new ArrayList<>();
    private final List<Acceptor> acceptors = new ArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private boolean closed;

    /**
     * Opens it, see {@code ServerNetwork.listen}.
     *
     * @param sockets closed with it, and if it cannot be opened
     * @param settings where
     * @param bufferBytes memory for the buffers of all connections
     * @param clients makes what runs the requests of a connection
     * @param ended told when the threads of the sockets end
     */
    StreamPort(
            Transport sockets,
            PortSettings settings,
            long bufferBytes,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            EndedLoops ended) {
        this.sockets = sockets;
        this.ended = ended;
        try {
            InputBudget inputBudget = new InputBudget(bufferBytes);
            long share = bufferBytes / sockets.loops().size();
            for (EventLoop each : sockets.loops()) {
                loops.add(new StreamLoop(each, inputBudget, share, clients));
            }
            for (InetSocketAddress address : settings.addresses()) {
                acceptors.add(listen(address, settings.backlog()));
            }
        } catch (RuntimeException | Error e) {
            try {
                close();
            } catch (RuntimeException | Error second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    private Acceptor listen(InetSocketAddress address, int backlog) {
        EventLoop first = loops.getFirst().loop();
        CompletableFuture<Acceptor> listening = new CompletableFuture<>();
        first.execute(() -> {
            try {
                listening.complete(first.listen(address, backlog, this::accept));
            } catch (IOException | RuntimeException | Error e) {
                listening.completeExceptionally(e);
            }
        });
        try {
            first.waits().ifPresent(waits -> waits.until(listening::isDone, Long.MAX_VALUE));
            return listening.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof ListenException refused && refused.reason() == ListenException.Reason.IN_USE) {
                throw new PortInUseException(address, refused);
            }
            String reason = cause instanceof ListenException
                    ? String.valueOf(cause.getMessage())
                    : "cannot listen on " + AddressText.of(address) + ": " + cause;
            throw new UncheckedIOException(reason, new IOException(cause));
        }
    }

    private void accept(EventLoop.PendingSocket pending) {
        loops.get(Math.floorMod(accepted.getAndIncrement(), loops.size())).take(pending);
    }

    @Override
    public SocketAddress localAddress() {
        return acceptors.getFirst().localAddress();
    }

    @Override
    public List<SocketAddress> localAddresses() {
        return acceptors.stream().<SocketAddress>map(Acceptor::localAddress).toList();
    }

    /** Its loops. */
    List<StreamLoop> loops() {
        return loops;
    }

    @Override
    public void stopAccepting() {
        if (!closed && !acceptors.isEmpty()) {
            CountDownLatch stopped = new CountDownLatch(1);
            loops.getFirst().runLast(() -> acceptors.forEach(Acceptor::close), stopped::countDown);
            new CloseTime(sockets.loops().getFirst()).await(stopped);
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        ended.expect();
        try {
            stopAccepting(); // so that no loop is given another connection
            closed = true;
            CountDownLatch left = new CountDownLatch(loops.size());
            for (StreamLoop each : loops) {
                each.close(left::countDown);
            }
            new CloseTime(sockets.loops().getFirst()).await(left);
        } finally {
            sockets.close();
        }
    }
}
