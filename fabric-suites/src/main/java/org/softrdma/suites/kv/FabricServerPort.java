package org.softrdma.suites.kv;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.softrdma.fabric.baton.Baton;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.Transport;

/** A port whose connections take turns on some event loops. */
final class FabricServerPort implements ServerPort {
    private final Baton baton;
    private final Transport sockets;
    private final Function<? super ClientChannel, ? extends ClientHandler> clients;
    private final List<FabricChannel> channels = new ArrayList<>();
    private final Acceptor acceptor;
    private int accepted;

    FabricServerPort(
            Baton baton,
            Transport sockets,
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients) {
        this.baton = baton;
        this.sockets = sockets;
        this.clients = clients;
        try {
            acceptor = sockets.loops().getFirst().listen(settings.address(), settings.backlog(), this::accept);
        } catch (IOException e) {
            sockets.close();
            throw new UncheckedIOException("cannot listen on " + settings.address() + ": " + e.getMessage(), e);
        }
    }

    private void accept(EventLoop.PendingSocket pending) {
        EventLoop loop = sockets.loops().get(accepted++ % sockets.loops().size());
        loop.execute(() -> {
            FabricChannel channel = new FabricChannel(loop, clients, channels::remove);
            channels.add(channel);
            channel.adopt(pending);
        });
    }

    @Override
    public SocketAddress localAddress() {
        return acceptor.localAddress();
    }

    @Override
    public void stopAccepting() {
        acceptor.close();
    }

    @Override
    public void close() {
        stopAccepting();
        List.copyOf(channels).forEach(channel -> channel.execute(channel::close));
        boolean ignored = baton.until(channels::isEmpty, Long.MAX_VALUE);
        sockets.close();
    }
}
