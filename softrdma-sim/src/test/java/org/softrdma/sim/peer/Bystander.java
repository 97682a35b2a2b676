package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** A well-behaved verbs connection to the device under test, from a device of its own; it must notice nothing. */
public final class Bystander implements AutoCloseable {
    private static final int READS = 8;
    private static final int BYTES = 3000;

    private final TestDevice here;
    private final TestDevice.Guarded source;
    private final TestDevice.Guarded sink;
    private final QueuePair pair;
    private final QueuePair remotePair;
    private int begun;

    /** Connects. */
    public Bystander(TestDevice server, String transport) {
        here = new TestDevice("transport", transport);
        source = server.guarded(READS * BYTES, AccessFlag.REMOTE_READ).fill(991);
        sink = here.guarded(READS * BYTES, AccessFlag.READ_SINK);
        Connector connector = here.own(here.device().resolve(server.address(), TestDevice.DEADLINE_NS));
        pair = here.own(connector.createQueuePair(
                here.domain(), QueuePairAttributes.of(here.queue(), QueuePairLimits.DEFAULT)));
        CompletableFuture<byte[]> connected = CompletableFuture.supplyAsync(
                () -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS),
                Thread::startVirtualThread);
        ConnectionRequest request = server.request();
        remotePair = server.queuePair(request, QueuePairLimits.DEFAULT);
        request.accept(ConnectionParameters.DEFAULT);
        connected.orTimeout(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS).join();
    }

    /** Posts some READs. */
    public void begin() {
        sink.inner().fill((byte) 0);
        for (int i = 0; i < READS; i++) {
            long at = (long) i * BYTES;
            PostStatus status = pair.postRead(
                    begun++,
                    sink.region(),
                    at,
                    BYTES,
                    source.region().address() + at,
                    source.region().rkey(),
                    SendFlags.SIGNALLED);
            assertEquals(PostStatus.ACCEPTED, status);
        }
    }

    /** Fails unless the READs have the right data. */
    public void finish() {
        for (TestDevice.Completion completion : here.take(READS)) {
            assertEquals(CompletionStatus.SUCCESS, completion.status(), "a READ of the bystander");
            assertEquals(BYTES, completion.bytes());
        }
        assertArrayEquals(TestBytes.pattern(991, READS * BYTES), sink.bytes(0, READS * BYTES), "data of the bystander");
        sink.requireCanaries();
        assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        assertEquals(QueuePairState.READY_TO_SEND, remotePair.state());
    }

    @Override
    public void close() {
        here.close();
    }
}
