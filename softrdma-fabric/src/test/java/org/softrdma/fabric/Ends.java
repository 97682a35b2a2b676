package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client and a server with a device each, and completion queues of their own for SENDs and RECVs; the queues of the
 * RECVs raise events.
 */
final class Ends implements AutoCloseable {
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private static final int PORT = 7471;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(16, 16);

    private final Fabric fabric;
    private final Owned owned = new Owned();
    private final Side server;
    private final Side client;
    private final Listener listener;
    private final FabricNode serverNode;
    private final FabricNode clientNode;

    /** One of the two. */
    final class Side {
        private final VerbsDevice device;
        private final ProtectionDomain domain;
        private final CompletionChannel channel;
        private final CompletionQueue sends;
        private final CompletionQueue receives;
        private final WorkCompletion[] one = WorkCompletion.array(1);

        Side(VerbsDevice device) {
            this.device = device;
            domain = owned.add(device.allocateProtectionDomain());
            channel = owned.add(device.createCompletionChannel());
            sends = owned.add(device.createCompletionQueue(64));
            receives = owned.add(device.createCompletionQueue(64, channel, 0));
        }

        long counter(String name) {
            return Objects.requireNonNull(device.counters().get(name), name);
        }

        CompletionChannel channel() {
            return channel;
        }

        CompletionQueue sends() {
            return sends;
        }

        CompletionQueue receives() {
            return receives;
        }

        MemoryRegion region(int bytes, AccessFlag... access) {
            Set<AccessFlag> rights = EnumSet.of(AccessFlag.LOCAL_WRITE);
            rights.addAll(List.of(access));
            return domain.register(owned.add(device.allocateMemory(bytes)).segment(), rights);
        }

        private QueuePairAttributes attributes() {
            return new QueuePairAttributes(sends, receives, LIMITS, false);
        }

        /** The next completion of a queue. */
        WorkCompletion next(CompletionQueue queue) {
            long endNs = fabric.clock().nanoTime() + PATIENCE_NS;
            while (queue.poll(one) == 0) {
                assertTrue(fabric.clock().nanoTime() < endNs, "no completion");
            }
            return one[0];
        }
    }

    /** What a test does, in a process of the client. */
    interface Body {
        void run(Ends ends) throws Exception;
    }

    /** Runs a test's process by a seed. */
    static void run(long seed, FabricSettings settings, Body body) {
        run(seed, settings, Map.of(), body);
    }

    /** As {@link #run(long, FabricSettings, Body)}, of devices with options. */
    static Fabric run(long seed, FabricSettings settings, Map<String, String> options, Body body) {
        Fabric fabric = new Fabric(seed, settings);
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        fabric.run(client, () -> {
            try (Ends ends = new Ends(fabric, server, client, options)) {
                body.run(ends);
            }
        });
        return fabric;
    }

    private Ends(Fabric fabric, FabricNode serverNode, FabricNode clientNode, Map<String, String> options) {
        this.fabric = fabric;
        this.serverNode = serverNode;
        this.clientNode = clientNode;
        server = new Side(owned.add(serverNode.open(options)));
        client = new Side(owned.add(clientNode.open(options)));
        listener = owned.add(server.device.listen(new InetSocketAddress(serverNode.address(), PORT), 4));
    }

    Fabric fabric() {
        return fabric;
    }

    Side server() {
        return server;
    }

    Side client() {
        return client;
    }

    /** From now on nothing gets from one to the other. */
    void divide() {
        fabric.partition(serverNode, clientNode, Long.MAX_VALUE / 2);
    }

    /** The client and its device do nothing for a while. */
    void pauseClient(long durationNs) {
        clientNode.pause(durationNs);
    }

    /** The two ends of a connection. */
    record Link(QueuePair client, QueuePair server) {
        void close() {
            client.close();
            server.close();
        }
    }

    Link connect() {
        QueuePair[] accepted = new QueuePair[1];
        SimulatedThread accepting = serverNode.start("accept", () -> {
            ConnectionRequest request = owned.add(listener.next(PATIENCE_NS).orElseThrow());
            accepted[0] = request.createQueuePair(server.domain, server.attributes());
            request.accept(ConnectionParameters.ofReads(4));
        });
        Connector connector =
                owned.add(client.device.resolve(new InetSocketAddress(serverNode.address(), PORT), PATIENCE_NS));
        QueuePair pair = connector.createQueuePair(client.domain, client.attributes());
        connector.connect(ConnectionParameters.ofReads(4), PATIENCE_NS);
        assertEquals(true, fabric.scheduler().until(accepting::isEnded, PATIENCE_NS));
        return new Link(pair, accepted[0]);
    }

    /** A process of the server beside the test's. */
    SimulatedThread serve(FabricNode.Program process) {
        return serverNode.start("serve", process);
    }

    @Override
    public void close() {
        owned.close();
    }
}
