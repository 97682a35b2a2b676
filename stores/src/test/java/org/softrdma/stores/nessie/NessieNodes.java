package org.softrdma.stores.nessie;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.FabricStores.RunningServer;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreServerContext;

/** The nodes of a store on a fabric. Processes of the run. */
public final class NessieNodes {
    private static final int MOST_CONNECTIONS = 32;

    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Fabric fabric;
    private final List<FabricNode> nodes = new ArrayList<>();
    private final List<RunningServer> servers = new ArrayList<>();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private final Protocol protocol;
    private final Map<String, String> options;
    private final UnaryOperator<StoreServerContext> settings;
    private boolean stopped;

    /**
     * Nodes that do not run yet.
     *
     * @param count how many
     * @param options of each
     * @param settings changes the settings
     */
    public NessieNodes(
            Fabric fabric,
            int count,
            Protocol protocol,
            Map<String, String> options,
            UnaryOperator<StoreServerContext> settings) {
        this.fabric = fabric;
        this.protocol = protocol;
        this.options = options;
        this.settings = settings;
        for (int i = 0; i < count; i++) {
            nodes.add(fabric.node(name(i)));
        }
    }

    /** The name of a node. */
    public static String name(int node) {
        return "server" + node;
    }

    /** Starts all, and a clock: without it, time leaps over the pauses of workers when nothing else is due. */
    public NessieNodes start() {
        var ignored = nodes.getFirst().startHelper("ticks", () -> {
            while (!stopped) {
                fabric.scheduler().sleep(TICK_NS);
            }
        });
        for (int i = 0; i < nodes.size(); i++) {
            RunningServer running = serve(i);
            servers.add(running);
            addresses.add(running.server().address());
        }
        return this;
    }

    private RunningServer serve(int node) {
        Map<String, String> all = new HashMap<>(options);
        all.put("nodes", Integer.toString(nodes.size()));
        all.put("node", Integer.toString(node));
        return FabricStores.serve(
                fabric,
                nodes.get(node),
                new NessieDesign(),
                context -> settings.apply(context.maxConnections(MOST_CONNECTIONS))
                        .protocol(protocol)
                        .options(all));
    }

    /** Kills a server between two rounds, and starts another one in its place. */
    public void crash(int node) {
        servers.get(node).crash(0, 1);
        servers.set(node, serve(node));
    }

    /** The machine of a node. */
    public FabricNode node(int node) {
        return nodes.get(node);
    }

    /** A server. */
    public RunningServer server(int node) {
        return servers.get(node);
    }

    /** Settings of a client, to be concluded. */
    public StoreClientContext client() {
        return new StoreClientContext(addresses)
                .protocol(protocol)
                .time(fabric.clock(), fabric.idleStrategy())
                .random(fabric.scheduler().choices().generator());
    }

    /** Stops all. */
    public void stop() {
        stopped = true;
        servers.forEach(RunningServer::stop);
    }
}
