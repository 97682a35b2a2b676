package org.softrdma.suites.kv;

import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;

/** The memcached port on the fabric's network. */
final class FabricServerNetwork implements ServerNetwork {
    private final Fabric fabric;
    private final FabricNode node;

    FabricServerNetwork(Fabric fabric, FabricNode node) {
        this.fabric = fabric;
        this.node = node;
    }

    @Override
    public ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed) {
        return new FabricServerPort(
                fabric.baton(), node.sockets("kv-memcached", settings.threads()), settings, clients);
    }

    @Override
    public long bufferBytes() {
        return Long.MAX_VALUE;
    }
}
