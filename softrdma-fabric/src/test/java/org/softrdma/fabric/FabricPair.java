package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
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

/** Two nodes with a device each and one connection, in a run of a seed. */
final class FabricPair implements AutoCloseable {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int PORT = 7471;
    private static final int READS = 8;

    private final Fabric fabric;
    private final FabricNode server;
    private final Owned owned = new Owned();
    private final VerbsDevice serverDevice;
    private final VerbsDevice clientDevice;
    private final ProtectionDomain serverDomain;
    private final ProtectionDomain clientDomain;
    private final CompletionQueue clientQueue;
    private final WorkCompletion[] completions = WorkCompletion.array(1);
    private final List<SimulatedThread> serving = new ArrayList<>();
    private final QueuePair queuePair;

    /** What a test does with it, in a process of the client. */
    interface Body {
        void run(FabricPair pair) throws Exception;
    }

    /** Runs a test's process by a seed. */
    static Fabric run(long seed, FabricSettings settings, Body body) {
        Fabric fabric = new Fabric(seed, settings);
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        fabric.run(client, () -> {
            try (FabricPair pair = new FabricPair(fabric, server, client)) {
                body.run(pair);
            }
        });
        return fabric;
    }

    private FabricPair(Fabric fabric, FabricNode server, FabricNode client) {
        this.fabric = fabric;
        this.server = server;
        serverDevice = owned.add(server.open(Map.of()));
        clientDevice = owned.add(client.open(Map.of()));
        serverDomain = owned.add(serverDevice.allocateProtectionDomain());
        clientDomain = owned.add(clientDevice.allocateProtectionDomain());
        CompletionQueue serverQueue = owned.add(serverDevice.createCompletionQueue(16));
        clientQueue = owned.add(clientDevice.createCompletionQueue(16));
        Listener listener = owned.add(serverDevice.listen(new InetSocketAddress(server.address(), PORT), 1));
        server.start("accept", () -> accept(listener, serverQueue));
        Connector connector =
                owned.add(clientDevice.resolve(new InetSocketAddress(server.address(), PORT), PATIENCE_NS));
        queuePair = owned.add(connector.createQueuePair(
                clientDomain, QueuePairAttributes.of(clientQueue, QueuePairLimits.of(16, 16))));
        connector.connect(ConnectionParameters.ofReads(READS), PATIENCE_NS);
    }

    private void accept(Listener listener, CompletionQueue queue) {
        ConnectionRequest request = owned.add(listener.next(PATIENCE_NS).orElseThrow());
        QueuePair unused = owned.add(
                request.createQueuePair(serverDomain, QueuePairAttributes.of(queue, QueuePairLimits.of(16, 16))));
        request.accept(ConnectionParameters.ofReads(READS));
        assertEquals(serverDomain, unused.protectionDomain());
    }

    Fabric fabric() {
        return fabric;
    }

    /** Memory of the server that the client may READ and WRITE, with more flags. */
    MemoryRegion remote(int bytes, AccessFlag... more) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        access.addAll(List.of(more));
        return owned.add(serverDomain.register(
                owned.add(serverDevice.allocateMemory(bytes)).segment(), access));
    }

    /** Memory of the client. */
    MemoryRegion local(int bytes) {
        return owned.add(clientDomain.register(
                owned.add(clientDevice.allocateMemory(bytes)).segment(),
                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK)));
    }

    /** A process of the server beside the test's. */
    void serve(FabricNode.Program process) {
        serving.add(server.start("writer", process));
    }

    /** READs, and returns when the bytes are there. */
    MemorySegment read(MemoryRegion remote, long offset, MemoryRegion sink, int length) {
        assertEquals(
                PostStatus.ACCEPTED,
                queuePair.postRead(1, sink, 0, length, remote.address() + offset, remote.rkey(), SendFlags.SIGNALLED));
        succeed();
        return sink.memory();
    }

    /** WRITEs, and returns when the request is complete here. */
    void write(MemoryRegion source, MemoryRegion remote, int length) {
        assertEquals(
                PostStatus.ACCEPTED,
                queuePair.postWrite(2, source, 0, length, remote.address(), remote.rkey(), SendFlags.SIGNALLED));
        succeed();
    }

    private void succeed() {
        int count = 0;
        while (count == 0) {
            count = clientQueue.poll(completions);
        }
        assertEquals(CompletionStatus.SUCCESS, completions[0].status());
    }

    @Override
    public void close() {
        for (SimulatedThread process : serving) {
            boolean ended = fabric.scheduler().until(process::isEnded, PATIENCE_NS);
            assertTrue(ended, process + " has not ended");
        }
        owned.close();
    }
}
