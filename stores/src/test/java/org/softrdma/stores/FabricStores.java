package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.Agent;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/** Servers and clients of any design on the nodes of a fabric. Processes of the run. */
public final class FabricStores {
    private static final int PORT = 18_515;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private FabricStores() {}

    /** A server that a process of its node drives, until it is stopped or crashes. */
    public static final class RunningServer {
        private final Fabric fabric;
        private final VerbsDevice device;
        private final StoreServer server;
        private final FabricSteps steps;
        private final List<Agent> standing = new ArrayList<>();
        private List<Agent> workers = List.of();
        private int running;
        private boolean stopping;
        private boolean crashing;
        private boolean stopped;

        private RunningServer(Fabric fabric, VerbsDevice device, StoreServer server, FabricSteps steps) {
            this.fabric = fabric;
            this.device = device;
            this.server = server;
            this.steps = steps;
        }

        /** Its workers get threads of their own. */
        private void detachWorkers(FabricNode node) {
            workers = server.detachWorkers();
            for (Agent worker : workers) {
                running++;
                var ignored = node.startHelper(worker.roleName(), () -> {
                    run(worker);
                    running--;
                });
            }
        }

        private void run(Agent agent) {
            try {
                while (!stopping) {
                    fabric.idleStrategy().idle(standing.contains(agent) ? 0 : agent.doWork());
                }
            } catch (FabricSteps.Crash e) {
                crashing = true;
                stopping = true;
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        /** Workers that have threads of their own. */
        public List<Agent> workers() {
            return workers;
        }

        /** A worker with a thread of its own stands still, or goes on. */
        public void stand(Agent worker, boolean still) {
            boolean ignored = still ? standing.add(worker) : standing.remove(worker);
        }

        private void run(Consumer<StoreServer> burial) {
            run(server);
            if (running > 0 && !fabric.scheduler().until(() -> running == 0, PATIENCE_NS)) {
                throw new AssertionError("a worker does not stop");
            }
            if (crashing) {
                burial.accept(server);
            } else {
                server.close();
            }
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
            awaitEnd();
        }

        /** Crashes it between two rounds, or in a change within so many steps, and waits for that. */
        public void crash(int within, long patienceNs) {
            steps.crashAfter(within);
            boolean ignored = fabric.scheduler().until(() -> stopped, patienceNs);
            crashing = true;
            stopping = true;
            awaitEnd();
        }

        private void awaitEnd() {
            if (!fabric.scheduler().until(() -> stopped, PATIENCE_NS)) {
                throw new AssertionError("the server does not stop");
            }
        }
    }

    /**
     * Starts a server as a helper of a node, so that a run does not wait for its end.
     *
     * @param settings changes the settings
     * @param burial ends it if it crashes
     */
    public static RunningServer serve(
            Fabric fabric,
            FabricNode node,
            StoreDesign design,
            UnaryOperator<StoreServerContext> settings,
            Consumer<StoreServer> burial) {
        return serve(fabric, node, design, settings, burial, false);
    }

    /** As {@link #serve}, and each worker of the server has a thread of its own. */
    public static RunningServer serveByThreads(
            Fabric fabric, FabricNode node, StoreDesign design, UnaryOperator<StoreServerContext> settings) {
        return serve(fabric, node, design, settings, StoreServer::close, true);
    }

    private static RunningServer serve(
            Fabric fabric,
            FabricNode node,
            StoreDesign design,
            UnaryOperator<StoreServerContext> settings,
            Consumer<StoreServer> burial,
            boolean threads) {
        FabricSteps steps = new FabricSteps(fabric);
        StoreServerContext context = new StoreServerContext(new InetSocketAddress(node.address(), PORT))
                .nanoClock(fabric.clock())
                .random(fabric.scheduler().choices().generator())
                .steps(steps);
        RunningServer[] running = new RunningServer[1];
        var thread = node.startHelper("server", () -> {
            VerbsDevice device = node.open(deviceOptions(design));
            StoreServer server = design.serve(device, settings.apply(context).conclude());
            RunningServer made = new RunningServer(fabric, device, server, steps);
            if (threads) {
                made.detachWorkers(node);
            }
            running[0] = made;
            made.run(burial);
        });
        boolean ignored = fabric.scheduler().until(() -> running[0] != null || thread.isEnded(), PATIENCE_NS);
        if (running[0] == null) {
            throw new AssertionError("the server does not start");
        }
        return running[0];
    }

    /** As {@link #serve}, for a server that does not crash. */
    public static RunningServer serve(
            Fabric fabric, FabricNode node, StoreDesign design, UnaryOperator<StoreServerContext> settings) {
        return serve(fabric, node, design, settings, StoreServer::close);
    }

    /** Options of devices on which a design runs: of RoCEv2 if it needs datagrams, else none. */
    public static Map<String, String> deviceOptions(StoreDesign design) {
        return design.needs(Protocol.SAFE).contains(Feature.UNRELIABLE_DATAGRAM) ? Map.of("wire", "roce") : Map.of();
    }

    /** Settings of a client, to be concluded. */
    public static StoreClientContext client(Fabric fabric, FabricNode server) {
        return new StoreClientContext(new InetSocketAddress(server.address(), PORT))
                .time(fabric.clock(), fabric.idleStrategy())
                .random(fabric.scheduler().choices().generator());
    }
}
