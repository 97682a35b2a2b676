package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.softrdma.kv.server.RawQueuePair.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/** An Error in a thread of the RDMA port costs one queue pair, and never the thread. */
class RdmaPortFailuresTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);

    /** Errors still to come. */
    private final AtomicInteger errors = new AtomicInteger();

    private void failOn(String thread) {
        if (Thread.currentThread().getName().startsWith(thread)
                && errors.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new OutOfMemoryError("injected");
        }
    }

    @Test
    void shouldEndOneQueuePairWhenItsCompletionsCannotBeHandled() throws IOException {
        try (RunningServer running =
                        new RunningServer(context -> context.environment(around -> around.withClockSeconds(() -> {
                            failOn("kv-rdma-completions");
                            return 1_000_000;
                        })));
                KvClient good = strict(running, running.clientDevice());
                RawMemcached tcp = new RawMemcached(running.address())) {
            String token = RawQueuePair.token(tcp);
            try (RawQueuePair unlucky = RawQueuePair.showing(token, running, 2)) {
                errors.set(1);
                unlucky.hello(token);
                unlucky.awaitEnd();
            }
            assertEquals(0, errors.get());
            for (int i = 0; i < 200; i++) { // more than there is room for if nobody takes completions
                assertFalse(
                        good.get("nokey".getBytes(StandardCharsets.US_ASCII)).isPresent());
            }
            assertServes(running);
            await(() -> running.server().rdmaCounters().boundQueuePairs.get() == 1);
        }
    }

    @Test
    void shouldTakeFurtherQueuePairsWhenListeningFailed() {
        try (RunningServer running = new RunningServer(
                context -> context,
                Map.of(),
                device -> Changed.listening(device, (listener, arguments) -> {
                    failOn("kv-rdma-accept");
                    return listener.next(TimeUnit.MILLISECONDS.toNanos(1));
                }))) {
            errors.set(3);
            await(() -> errors.get() == 0);
            assertServes(running);
        }
    }

    @Test
    void shouldRejectOneQueuePairThatThereIsNoMemoryFor() throws IOException {
        try (RunningServer running = new RunningServer(
                        context -> context,
                        Map.of(),
                        device -> Changed.with(VerbsDevice.class, device, "allocateMemory", (original, arguments) -> {
                            failOn("kv-rdma-accept");
                            return arguments.length == 1
                                    ? original.allocateMemory((long) arguments[0])
                                    : original.allocateMemory(
                                            (long) arguments[0], (org.softrdma.verbs.MemorySource) arguments[1]);
                        }));
                RawMemcached tcp = new RawMemcached(running.address())) {
            errors.set(1);
            String token = RawQueuePair.token(tcp);
            org.junit.jupiter.api.Assertions.assertThrows(
                    VerbsException.class, () -> RawQueuePair.showing(token, running, 2));
            await(() -> running.server().rdmaCounters().rejectedQueuePairs.sum() == 1);
            assertServes(running);
        }
    }

    private static void assertServes(RunningServer running) {
        try (KvClient client = strict(running, running.clientDevice())) {
            client.set(KEY, 0, 0, KEY);
            assertArrayEquals(KEY, client.get(KEY).orElseThrow().value());
        }
    }

    private static KvClient strict(RunningServer running, VerbsDevice device) {
        return KvClient.connect(
                device,
                new KvClientContext(running.address()).protocol(KvProtocol.RDMA).conclude());
    }
}
