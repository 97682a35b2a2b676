package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.softrdma.sim.fabric.Fabric;
import org.softrdma.sim.fabric.FabricNode;
import org.softrdma.verbs.device.VerbsDevice;

/** Servers and clients of any design on the nodes of a fabric. Processes of the run. */
public final class FabricStores {
    private static final int PORT = 18_515;

    private FabricStores() {}

    /** A server that a process of its node drives, until it is stopped. */
    public static final class RunningServer {
        private final StoreServer server;
        private final VerbsDevice device;
        private final Fabric fabric;
        private boolean stopping;
        private boolean stopped;

        private RunningServer(Fabric fabric, VerbsDevice device, StoreServer server) {
            this.fabric = fabric;
            this.device = device;
            this.server = server;
        }

        private void run() {
            while (!stopping) {
                fabric.idleStrategy().idle(server.doWork());
            }
            server.close();
            device.close();
            stopped = true;
        }

        /** Its device. */
        public VerbsDevice device() {
            return device;
        }

        /** The server. */
        public StoreServer server() {
            return server;
        }

        /** Ends it, and waits for that. */
        public void stop() {
            stopping = true;
            if (!fabric.baton().until(() -> stopped, TimeUnit.HOURS.toNanos(1))) {
                throw new AssertionError("the server does not stop");
            }
        }
    }

    /** Settings of a server, to be concluded. */
    public static StoreServerContext server(Fabric fabric, FabricNode node) {
        return new StoreServerContext(new InetSocketAddress(node.address(), PORT))
                .nanoClock(fabric.clock())
                .random(fabric.baton().choices().generator())
                .steps(new FabricSteps(fabric));
    }

    /** Starts a server as a helper of a node, so that a run does not wait for its end. */
    public static RunningServer serve(
            Fabric fabric, FabricNode node, StoreDesign design, UnaryOperator<StoreServerContext> settings) {
        RunningServer[] running = new RunningServer[1];
        var thread = node.startHelper("server", () -> {
            VerbsDevice device = node.open(Map.of());
            running[0] = new RunningServer(
                    fabric, device, design.serve(device, settings.apply(server(fabric, node)).conclude()));
            running[0].run();
        });
        boolean begun = fabric.baton().until(() -> running[0] != null || thread.isEnded(), TimeUnit.HOURS.toNanos(1));
        if (!begun || running[0] == null) {
            throw new AssertionError("the server does not start");
        }
        return running[0];
    }

    /** Settings of a client, to be concluded. */
    public static StoreClientContext client(Fabric fabric, FabricNode server) {
        return new StoreClientContext(new InetSocketAddress(server.address(), PORT))
                .time(fabric.clock(), fabric.idleStrategy())
                .random(fabric.baton().choices().generator());
    }
}
