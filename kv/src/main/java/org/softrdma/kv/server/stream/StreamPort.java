package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.PortInUseException;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.Wildcards;
import org.softrdma.kv.server.tls.TlsPort;
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
    /** Its socket of {@code ::} takes IPv4, too: Java does not say IPV6_V6ONLY. */
    private static final String MIXED_FAMILIES = "nio";

    private final PortSettings settings;
    private final @Nullable TlsPort tls;
    private final Transport sockets;
    private final EndedLoops ended;
    private final List<StreamLoop> loops = new ArrayList<>();
    private final List<Acceptor> acceptors = new ArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private @Nullable UnixSocketFile unixSocket;
    private boolean closed;

    /**
     * Opens it, see {@code ServerNetwork.listen}.
     *
     * @param opener of the loops, which are closed with the port
     * @param threads name of the loops' threads
     * @param settings where
     * @param bufferBytes memory for the buffers of all connections
     * @param clients makes what runs the requests of a connection
     * @param ended told when the threads of the sockets end
     */
    StreamPort(
            StreamNetwork.Sockets opener,
            String threads,
            PortSettings settings,
            long bufferBytes,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            EndedLoops ended) {
        this.settings = settings;
        this.ended = ended;
        tls = tls(settings);
        sockets = opener.open(settings, threads, ended);
        try {
            InputBudget inputBudget = new InputBudget(bufferBytes);
            long share = bufferBytes / sockets.loops().size();
            for (EventLoop each : sockets.loops()) {
                loops.add(new StreamLoop(each, inputBudget, share, clients));
            }
            Path file = settings.unixSocket();
            if (file == null) {
                settings.addresses().forEach(this::listen);
            } else {
                listen(file);
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

    private static @Nullable TlsPort tls(PortSettings settings) {
        try {
            TlsSettings wanted = settings.tls();
            return wanted == null ? null : new TlsPort(wanted);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    private void listen(InetSocketAddress address) {
        if (isServedByIpv6(address)) {
            return;
        }
        try {
            acceptors.add(
                    onFirstLoop(loop -> loop.listen(address, settings.backlog(), pending -> accept(pending, address))));
        } catch (ListenException e) {
            if (e.reason() == ListenException.Reason.IN_USE) {
                throw new PortInUseException(address, e);
            }
            throw new UncheckedIOException(e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen on " + AddressText.of(address) + ": " + e.getMessage(), e);
        }
    }

    private void listen(Path file) {
        UnixSocketFile placed = new UnixSocketFile(file, settings.unixSocketMask());
        unixSocket = placed;
        try {
            placed.place(address -> acceptors.add(
                    onFirstLoop(loop -> loop.listen(address, settings.backlog(), pending -> take(pending, null)))));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen on " + file + ": " + e.getMessage(), e);
        }
    }

    /** Opens a listening socket on a loop. */
    private interface Listening {
        Acceptor on(EventLoop loop) throws IOException;
    }

    private Acceptor onFirstLoop(Listening listening) throws IOException {
        EventLoop first = loops.getFirst().loop();
        CompletableFuture<Acceptor> opened = new CompletableFuture<>();
        first.execute(() -> {
            try {
                opened.complete(listening.on(first));
            } catch (IOException | RuntimeException | Error e) {
                opened.completeExceptionally(e);
            }
        });
        try {
            first.waits().ifPresent(waits -> waits.until(opened::isDone, Long.MAX_VALUE));
            return opened.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof IOException failed ? failed : new IOException(e.getCause());
        }
    }

    // ---- both families

    private boolean takesBothFamilies(InetSocketAddress address) {
        return sockets.name().equals(MIXED_FAMILIES) && address.getAddress().equals(Wildcards.IPV6);
    }

    /** True for {@code 0.0.0.0} if the socket of {@code ::} at the same port takes IPv4, too. */
    private boolean isServedByIpv6(InetSocketAddress address) {
        InetSocketAddress ipv6 = new InetSocketAddress(Wildcards.IPV6, address.getPort());
        return takesBothFamilies(ipv6) && settings.addresses().contains(ipv6) && address.equals(ipv4Beside(ipv6));
    }

    /** {@code 0.0.0.0} at the same port, if it is listened on, too. */
    private @Nullable InetSocketAddress ipv4Beside(InetSocketAddress ipv6) {
        InetSocketAddress ipv4 = new InetSocketAddress(Wildcards.IPV4, ipv6.getPort());
        return ipv6.getPort() != 0 && settings.addresses().contains(ipv4) ? ipv4 : null;
    }

    /** The address that somebody came to; null if we do not listen there, though our socket does. */
    private @Nullable InetSocketAddress reached(InetSocketAddress listening, EventLoop.PendingSocket pending) {
        boolean overIpv4 = takesBothFamilies(listening)
                && pending.remoteAddress() instanceof InetSocketAddress peer
                && peer.getAddress() instanceof Inet4Address;
        return overIpv4 ? ipv4Beside(listening) : listening;
    }

    private void accept(EventLoop.PendingSocket pending, InetSocketAddress address) {
        InetSocketAddress reached = reached(address, pending);
        if (reached == null) {
            pending.discard();
        } else {
            take(pending, settings.clear().contains(reached) ? null : tls);
        }
    }

    private void take(EventLoop.PendingSocket pending, @Nullable TlsPort encryption) {
        loops.get(Math.floorMod(accepted.getAndIncrement(), loops.size())).take(pending, encryption);
    }

    // ---- the open port

    @Override
    public SocketAddress localAddress() {
        return localAddresses().getFirst();
    }

    @Override
    public List<SocketAddress> localAddresses() {
        Path file = settings.unixSocket();
        return file == null
                ? acceptors.stream().map(Acceptor::localAddress).toList()
                : List.of(UnixDomainSocketAddress.of(file));
    }

    @Override
    public @Nullable PortSecurity security() {
        return tls;
    }

    /** How it does its I/O: {@code uring}, {@code epoll} or {@code nio}. */
    String io() {
        return sockets.name();
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
            if (unixSocket != null) {
                unixSocket.remove();
            }
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
