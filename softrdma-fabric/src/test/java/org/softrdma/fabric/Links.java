package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Some connections from a client to a server, in the order of their numbers, and words of the server that the client
 * WRITEs. Every wait has an end.
 */
final class Links implements AutoCloseable {
    static final int WORDS = 16;

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int PORT = 7471;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(16, 16);
    private static final Set<AccessFlag> REMOTE =
            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

    private final Fabric fabric;
    private final FabricNode server;
    private final Owned owned = new Owned();
    private final List<QueuePair> pairs = new ArrayList<>();
    private final List<QueuePair> serverPairs = new ArrayList<>();
    private final VerbsDevice serverDevice;
    private final CompletionQueue queue;
    private final MemoryRegion source;
    private final MemoryRegion target;
    private final MemoryWindow window;
    private final WorkCompletion[] completions = WorkCompletion.array(1);

    /** What a test does, in a process of the client. */
    interface Body {
        void run(Links links);
    }

    static void run(long seed, FaultPlan plan, int connections, Body body) {
        run(seed, plan, connections, Map.of(), body);
    }

    /** With options of the devices. */
    static void run(long seed, FaultPlan plan, int connections, Map<String, String> options, Body body) {
        Fabric fabric = new Fabric(seed, FabricSettings.DEFAULT.with(plan));
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        fabric.run(client, () -> {
            try (Links links = new Links(fabric, server, client, connections, options)) {
                body.run(links);
            }
        });
    }

    private Links(Fabric fabric, FabricNode server, FabricNode client, int connections, Map<String, String> options) {
        this.fabric = fabric;
        this.server = server;
        serverDevice = owned.add(server.open(options));
        VerbsDevice clientDevice = owned.add(client.open(options));
        ProtectionDomain serverDomain = owned.add(serverDevice.allocateProtectionDomain());
        ProtectionDomain clientDomain = owned.add(clientDevice.allocateProtectionDomain());
        CompletionQueue serverQueue = owned.add(serverDevice.createCompletionQueue(16));
        queue = owned.add(clientDevice.createCompletionQueue(64));
        target = owned.add(serverDomain.register(
                owned.add(serverDevice.allocateMemory(WORDS * Long.BYTES)).segment(), REMOTE));
        source = owned.add(clientDomain.register(
                owned.add(clientDevice.allocateMemory(Long.BYTES)).segment(),
                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK, AccessFlag.BIND_WINDOWS)));
        window = owned.add(clientDomain.allocateWindow());
        source.memory().set(ValueLayout.JAVA_LONG, 0, 1);
        Listener listener = owned.add(serverDevice.listen(new InetSocketAddress(server.address(), PORT), 8));
        for (int i = 0; i < connections; i++) {
            server.start("accept", () -> accept(listener, serverDomain, serverQueue));
            Connector connector =
                    owned.add(clientDevice.resolve(new InetSocketAddress(server.address(), PORT), PATIENCE_NS));
            pairs.add(owned.add(connector.createQueuePair(clientDomain, QueuePairAttributes.of(queue, LIMITS))));
            connector.connect(ConnectionParameters.ofReads(4), PATIENCE_NS);
        }
    }

    private void accept(Listener listener, ProtectionDomain domain, CompletionQueue completionQueue) {
        ConnectionRequest request = owned.add(listener.next(PATIENCE_NS).orElseThrow());
        serverPairs.add(owned.add(request.createQueuePair(domain, QueuePairAttributes.of(completionQueue, LIMITS))));
        request.accept(ConnectionParameters.ofReads(4));
    }

    FabricNode server() {
        return server;
    }

    VerbsDevice serverDevice() {
        return serverDevice;
    }

    Fabric fabric() {
        return fabric;
    }

    /** WRITEs 1 to a word of the server and waits for the request's end. */
    CompletionStatus write(int connection, long wrId, int word) {
        assertEquals(PostStatus.ACCEPTED, post(connection, wrId, word));
        return end(wrId);
    }

    PostStatus post(int connection, long wrId, int word) {
        return pairs.get(connection)
                .postWrite(
                        wrId,
                        source,
                        0,
                        Long.BYTES,
                        target.address() + (long) word * Long.BYTES,
                        target.rkey(),
                        SendFlags.SIGNALLED);
    }

    /** Posts two requests that send nothing and give no completion: they bind a window and take it back. */
    void postLocal(int connection, long wrId) {
        QueuePair pair = pairs.get(connection);
        Set<AccessFlag> rights = Set.of(AccessFlag.REMOTE_READ);
        assertEquals(
                PostStatus.ACCEPTED, pair.postBindWindow(wrId, window, source, 0, Long.BYTES, rights, SendFlags.NONE));
        assertEquals(PostStatus.ACCEPTED, pair.postInvalidate(wrId, window.rkey(), SendFlags.NONE));
    }

    /** READs a word of the server and waits for the request's end: what was WRITTEN before is there then. */
    CompletionStatus read(int connection, long wrId) {
        assertEquals(
                PostStatus.ACCEPTED,
                pairs.get(connection)
                        .postRead(wrId, source, 0, Long.BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED));
        return end(wrId);
    }

    /** Waits for the end of the oldest request, which has this wrId. */
    CompletionStatus end(long wrId) {
        int count = 0;
        long endNs = fabric.clock().nanoTime() + PATIENCE_NS;
        while (count == 0 && fabric.clock().nanoTime() < endNs) {
            count = queue.poll(completions);
        }
        assertEquals(1, count, "request " + wrId + " has not ended");
        assertEquals(wrId, completions[0].wrId());
        return completions[0].status();
    }

    /** Waits until the ends of a connection know that it is over. */
    void awaitEnd(int connection) {
        for (QueuePair pair : List.of(pairs.get(connection), serverPairs.get(connection))) {
            boolean over = fabric.scheduler()
                    .until(() -> pair.disconnected().toCompletableFuture().isDone(), PATIENCE_NS);
            assertEquals(true, over, pair + " does not know that its connection is over");
        }
    }

    /** The words that were WRITTEN, from the first. */
    int written() {
        int count = 0;
        while (count < WORDS && target.memory().get(ValueLayout.JAVA_LONG, (long) count * Long.BYTES) == 1) {
            count++;
        }
        return count;
    }

    @Override
    public void close() {
        owned.close();
    }
}
