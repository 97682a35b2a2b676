package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
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
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A connection on which anything may go wrong: the client tries to WRITE, READ and SEND, and what it posted must end,
 * well or not; the server accepts and waits for the end.
 */
final class Exchange {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int PORT = 7471;
    private static final int BYTES = 1000;
    private static final byte FILLING = 7;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(16, 16);

    private final Fabric fabric;
    private final FabricNode server;
    private final FabricNode client;
    private final Map<String, String> options;
    private final List<CompletionStatus> statuses = new ArrayList<>();
    private String failure = "";
    private long address;
    private int rkey;
    private long tookNs;
    private int wrongBytes;

    Exchange(long seed, FabricSettings settings, Map<String, String> options) {
        this.options = options;
        fabric = new Fabric(seed, settings);
        server = fabric.node("server");
        client = fabric.node("client");
    }

    void run() {
        fabric.run(server, this::serve);
    }

    long hash() {
        return fabric.trace().hash();
    }

    /** Of all that the client has posted. */
    List<CompletionStatus> statuses() {
        return statuses;
    }

    /** Why the client could not connect, or nothing. */
    String failure() {
        return failure;
    }

    boolean isBroken() {
        return !failure.isEmpty() || statuses.stream().anyMatch(status -> status != CompletionStatus.SUCCESS);
    }

    long tookNs() {
        return tookNs;
    }

    /** Bytes at the server that nobody has written. */
    int wrongBytes() {
        return wrongBytes;
    }

    private void serve() {
        try (VerbsDevice device = server.open(options);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(64);
                MemoryRegion region = domain.register(
                        device.allocateMemory(BYTES).segment(),
                        Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
                MemoryRegion inbox =
                        domain.register(device.allocateMemory(BYTES).segment(), Set.of(AccessFlag.LOCAL_WRITE));
                Listener listener = device.listen(new InetSocketAddress(server.address(), PORT), 4)) {
            address = region.address();
            rkey = region.rkey();
            client.start("client", this::use);
            Optional<ConnectionRequest> request = listener.next(PATIENCE_NS);
            if (request.isPresent()) {
                accept(request.get(), domain, queue, inbox);
            }
            count(region.memory());
        }
    }

    private void accept(ConnectionRequest request, ProtectionDomain domain, CompletionQueue queue, MemoryRegion inbox) {
        try (request;
                QueuePair pair = request.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
            PostStatus posted = pair.postReceive(1, inbox, 0, BYTES);
            assertTrue(posted == PostStatus.ACCEPTED, "RECV was " + posted);
            request.accept(ConnectionParameters.ofReads(4));
            boolean ignored = fabric.scheduler()
                    .until(() -> pair.disconnected().toCompletableFuture().isDone(), 2 * PATIENCE_NS);
        } catch (VerbsException e) {
            // The connection did not come to be.
        }
    }

    private void count(MemorySegment memory) {
        for (long at = 0; at < BYTES; at++) {
            byte here = memory.get(ValueLayout.JAVA_BYTE, at);
            wrongBytes += here == 0 || here == FILLING ? 0 : 1;
        }
    }

    private void use() {
        long beginNs = fabric.clock().nanoTime();
        try (VerbsDevice device = client.open(options);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(64);
                MemoryRegion memory = domain.register(
                        device.allocateMemory(2 * BYTES).segment(),
                        Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK));
                Connector connector = device.resolve(new InetSocketAddress(server.address(), PORT), PATIENCE_NS);
                QueuePair pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
            memory.memory().fill(FILLING);
            connector.connect(ConnectionParameters.ofReads(4), PATIENCE_NS);
            int posted = 0;
            posted += accepted(pair.postWrite(1, memory, 0, BYTES, address, rkey, SendFlags.SIGNALLED));
            posted += accepted(pair.postRead(2, memory, BYTES, BYTES, address, rkey, SendFlags.SIGNALLED));
            posted += accepted(pair.postSend(3, memory, 0, BYTES, SendFlags.SIGNALLED));
            finish(queue, posted);
            pair.disconnect();
        } catch (VerbsException e) {
            failure = String.valueOf(e.getMessage());
        }
        tookNs = fabric.clock().nanoTime() - beginNs;
    }

    private static int accepted(PostStatus status) {
        return status == PostStatus.ACCEPTED ? 1 : 0;
    }

    private void finish(CompletionQueue queue, int posted) {
        WorkCompletion[] completions = WorkCompletion.array(4);
        long endNs = fabric.clock().nanoTime() + PATIENCE_NS;
        while (statuses.size() < posted) {
            assertTrue(fabric.clock().nanoTime() < endNs, "only " + statuses + " of " + posted + " requests ended");
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                statuses.add(completions[i].status());
            }
        }
    }
}
