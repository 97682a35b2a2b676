package org.softrdma.streams;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.kv.server.netty.InputBudget;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.ListenException;
import org.softrdma.sim.transport.Transport;

/**
 * An open port: listening sockets on the first loop, and connections that the loops take by turns. Opened and closed by the
 * server, not by a loop's thread.
 */
final class StreamPort implements ServerPort {
    private static final Logger LOG = LoggerFactory.getLogger(StreamPort.class);
    private static final int CLOSE_TIMEOUT_SECONDS = 10;

    private final Transport sockets;
    private final EndedLoops ended;
    private final List<StreamLoop> loops;
    private final List<Acceptor> acceptors = new ArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();

    /**
     * Opens it, see {@code ServerNetwork.listen}.
     *
     * @param sockets closed with it
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
        InputBudget inputBudget = new InputBudget(bufferBytes);
        loops = sockets.loops().stream()
                .map(loop -> new StreamLoop(loop, inputBudget, bufferBytes, clients))
                .toList();
        try {
            for (InetSocketAddress address : settings.addresses()) {
                acceptors.add(listen(address, settings.backlog()));
            }
        } catch (RuntimeException | Error e) {
            close();
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
            return listening.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new UncheckedIOException(reason(cause, address), new IOException(cause));
        }
    }

    private static String reason(Throwable cause, InetSocketAddress address) {
        boolean taken = cause instanceof ListenException refused && refused.reason() == ListenException.Reason.IN_USE;
        return taken
                ? "cannot listen on " + address.getAddress().getHostAddress() + ":" + address.getPort()
                        + ": the port is in use; choose another with -p (0 takes any free one)"
                : String.valueOf(cause.getMessage());
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
        CompletableFuture<Void> stopped = new CompletableFuture<>();
        loops.getFirst().loop().execute(() -> {
            acceptors.forEach(Acceptor::close);
            stopped.complete(null);
        });
        await(stopped);
    }

    @Override
    public void close() {
        ended.expect();
        try {
            stopAccepting(); // so that no loop is given another connection
            List<CompletableFuture<Void>> closing = new ArrayList<>();
            for (StreamLoop each : loops) {
                CompletableFuture<Void> closed = new CompletableFuture<>();
                closing.add(closed);
                each.loop().execute(() -> each.close(() -> closed.complete(null)));
            }
            closing.forEach(StreamPort::await);
        } finally {
            sockets.close();
        }
    }

    private static void await(CompletableFuture<Void> done) {
        try {
            done.get(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            LOG.warn("a loop of the memcached port did not do its last work within {} s", CLOSE_TIMEOUT_SECONDS, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
