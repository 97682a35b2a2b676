package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.memcached.AnswerDescriptor;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** A client's queue pair that does what a test says, also what no client would do. Every wait has a deadline. */
final class RawQueuePair implements AutoCloseable {
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    /** RECVs that fit. */
    static final int RECEIVES = 80;

    /** Bytes of a RECV. */
    static final int SLOT = 64;

    /** Where the server may write items. */
    static final long ITEMS = 64 * 1024;

    private final CloseStack owned = new CloseStack();
    private final CompletionQueue completions;
    private final WorkCompletion[] one = WorkCompletion.array(1);
    final MemoryRegion region;
    final QueuePair queuePair;

    /** Connects, showing what a test says. */
    RawQueuePair(RunningServer server, VerbsDevice device, int receives, long itemBytes, byte[] privateData) {
        boolean made = false;
        try {
            ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
            completions = owned.add(device.createCompletionQueue(2 * RECEIVES));
            region = owned.add(domain.register(
                    owned.add(device.allocateMemory(ITEMS + itemBytes)).segment(),
                    Set.of(
                            AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE,
                            AccessFlag.RECEIVE_SINK,
                            AccessFlag.READ_SINK)));
            try (Connector connector = device.resolve(server.server().rdmaAddress(), TIMEOUT_NS)) {
                queuePair = owned.add(connector.createQueuePair(
                        domain, QueuePairAttributes.of(completions, QueuePairLimits.of(8, RECEIVES))));
                for (int i = 0; i < receives; i++) {
                    queuePair.postReceive(i, region, (long) i * SLOT, SLOT);
                }
                connector.connect(new ConnectionParameters(1, 1, privateData), TIMEOUT_NS);
            }
            made = true;
        } finally {
            if (!made) {
                owned.close();
            }
        }
    }

    /** Connects, showing a token. */
    static RawQueuePair showing(String token, RunningServer server, int receives) {
        return new RawQueuePair(server, server.clientDevice(), receives, ITEMS, HelloDescriptor.privateData(token));
    }

    /** Asks for a token, connects, says hello and waits for the answer. */
    static RawQueuePair bound(RawMemcached tcp, RunningServer server, VerbsDevice device, int receives, long itemBytes)
            throws IOException {
        String token = token(tcp);
        RawQueuePair made = new RawQueuePair(server, device, receives, itemBytes, HelloDescriptor.privateData(token));
        made.hello(token);
        assertEquals(AnswerDescriptor.BOUND, AnswerDescriptor.status(made.region.memory(), made.answer()));
        return made;
    }

    /** The same by the server's device for clients. */
    static RawQueuePair bound(RawMemcached tcp, RunningServer server, int receives) throws IOException {
        return bound(tcp, server, server.clientDevice(), receives, ITEMS);
    }

    /** Asks for a token. */
    static String token(RawMemcached tcp) throws IOException {
        tcp.send("rdma hello 2\r\n");
        String answer = tcp.readLine();
        assertTrue(answer.startsWith("RDMA 2 "), answer);
        return answer.split(" ", -1)[3];
    }

    /** Sends a hello, without waiting. */
    void hello(String token) {
        HelloDescriptor.write(region.memory(), ITEMS, token);
        queuePair.postSend(1000, region, ITEMS, HelloDescriptor.LENGTH, SendFlags.NONE);
    }

    /** READs a few bytes; how that ended. */
    CompletionStatus read(int rkey, long address, int length) {
        queuePair.postRead(2000, region, ITEMS, length, address, rkey, SendFlags.SIGNALLED);
        await(() -> completions.poll(one) == 1 && one[0].wrId() == 2000);
        return one[0].status();
    }

    /** Waits for the next answer; its offset. */
    long answer() {
        await(() -> completions.poll(one) == 1);
        assertTrue(one[0].isSuccess(), one[0].toString());
        assertEquals(AnswerDescriptor.LENGTH, one[0].byteLength());
        return one[0].wrId() * SLOT;
    }

    void awaitEnd() {
        await(() -> queuePair.state() == QueuePairState.ERROR);
    }

    static void await(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadlineNs, "not within 20 s");
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
