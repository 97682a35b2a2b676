package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
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

/** A client that WRITEs, READs back and SENDs, and a server that tells it where; every wait of the verbs is in it. */
final class Traffic {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int PORT = 7471;
    private static final int ROUNDS = 4;
    private static final int BYTES = 3000;
    private static final int HELLO_BYTES = 16;

    private final Fabric fabric;
    private final FabricNode server;
    private final FabricNode client;
    private long mappedAt;

    Traffic(long seed, FabricSettings settings) {
        fabric = new Fabric(seed, settings);
        server = fabric.node("server");
        client = fabric.node("client");
    }

    void run() {
        run(() -> {});
    }

    /**
     * Runs it.
     *
     * @param prepared done in a process when the server has its memory
     */
    void run(FabricNode.Program prepared) {
        fabric.run(server, () -> serve(prepared));
    }

    /** Where the server's memory was mapped. */
    long mappedAt() {
        return mappedAt;
    }

    long hash() {
        return fabric.trace().hash();
    }

    long steps() {
        return fabric.trace().steps();
    }

    private void serve(FabricNode.Program prepared) throws Exception {
        try (VerbsDevice device = server.open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionChannel channel = device.createCompletionChannel();
                CompletionQueue queue = device.createCompletionQueue(64, channel, 0);
                MemoryRegion region = domain.register(
                        device.allocateMemory(BYTES).segment(),
                        Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
                MemoryRegion hello =
                        domain.register(device.allocateMemory(HELLO_BYTES).segment(), Set.of(AccessFlag.LOCAL_WRITE));
                Listener listener = device.listen(new InetSocketAddress(server.address(), PORT), 4)) {
            mappedAt = region.memory().address();
            prepared.run();
            client.start("client", this::use);
            try (ConnectionRequest request = listener.next(PATIENCE_NS).orElseThrow();
                    QueuePair pair = request.createQueuePair(
                            domain, QueuePairAttributes.of(queue, QueuePairLimits.of(16, 16)))) {
                assertEquals(PostStatus.ACCEPTED, pair.postReceive(1, hello, 0, HELLO_BYTES));
                queue.requestNotification(false);
                request.accept(ConnectionParameters.ofReads(4));
                assertTrue(channel.await(PATIENCE_NS).isPresent());
                queue.acknowledgeEvents(1);
                succeed(queue, 1); // the client's SEND: it waits for the answer
                MemorySegment words = hello.memory();
                words.set(ValueLayout.JAVA_LONG, 0, region.address());
                words.set(ValueLayout.JAVA_LONG, Long.BYTES, region.rkey());
                assertEquals(PostStatus.ACCEPTED, pair.postSend(2, hello, 0, HELLO_BYTES, SendFlags.SIGNALLED));
                succeed(queue, 2);
                fabric.scheduler()
                        .until(() -> pair.disconnected().toCompletableFuture().isDone(), PATIENCE_NS);
            }
        }
    }

    private void use() {
        try (VerbsDevice device = client.open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(64);
                MemoryRegion source =
                        domain.register(device.allocateMemory(BYTES).segment(), Set.of(AccessFlag.LOCAL_WRITE));
                MemoryRegion sink =
                        domain.register(device.allocateMemory(BYTES).segment(), Set.of(AccessFlag.READ_SINK));
                MemoryRegion hello =
                        domain.register(device.allocateMemory(HELLO_BYTES).segment(), Set.of(AccessFlag.LOCAL_WRITE));
                Connector connector = device.resolve(new InetSocketAddress(server.address(), PORT), PATIENCE_NS);
                QueuePair pair =
                        connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(16, 16)))) {
            assertEquals(PostStatus.ACCEPTED, pair.postReceive(1, hello, 0, HELLO_BYTES));
            connector.connect(ConnectionParameters.ofReads(4), PATIENCE_NS);
            assertEquals(PostStatus.ACCEPTED, pair.postSend(2, hello, 0, 1, SendFlags.SIGNALLED));
            succeed(queue, 2);
            succeed(queue, 1);
            long remote = hello.memory().get(ValueLayout.JAVA_LONG, 0);
            int rkey = (int) hello.memory().get(ValueLayout.JAVA_LONG, Long.BYTES);
            for (int round = 0; round < ROUNDS; round++) {
                source.memory().fill((byte) (round + 1));
                assertEquals(
                        PostStatus.ACCEPTED, pair.postWrite(3, source, 0, BYTES, remote, rkey, SendFlags.SIGNALLED));
                assertEquals(PostStatus.ACCEPTED, pair.postRead(4, sink, 0, BYTES, remote, rkey, SendFlags.SIGNALLED));
                succeed(queue, 3);
                succeed(queue, 4);
                assertEquals(-1, source.memory().mismatch(sink.memory()), "round " + round);
            }
            pair.disconnect();
        }
    }

    private static void succeed(CompletionQueue queue, long wrId) {
        WorkCompletion[] completions = WorkCompletion.array(1);
        int count = 0;
        while (count == 0) {
            count = queue.poll(completions);
        }
        assertEquals(CompletionStatus.SUCCESS, completions[0].status());
        assertEquals(wrId, completions[0].wrId());
    }
}
