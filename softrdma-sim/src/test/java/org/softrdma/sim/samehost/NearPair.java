package org.softrdma.sim.samehost;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.sim.NearProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** Two devices of this process that show each other what they allocate, and a connection. One test thread. */
final class NearPair implements AutoCloseable {
    static final int BYTES = 8192;

    final NearProvider.Memory serverMemory = new NearProvider.Memory();
    final NearProvider.Memory clientMemory = new NearProvider.Memory();
    final TestDevice server;
    final TestDevice client;
    final QueuePair pair;
    final QueuePair serverPair;
    /** All of it shown, parts of it registered by the tests. */
    final MemorySegment shown;

    final MemoryRegion sink;
    private long nextId = 1;

    /** READs wait for what was posted before them. */
    NearPair() {
        this(false);
    }

    /** A pair whose READs may be relaxed. */
    NearPair(boolean relaxedReads) {
        this(relaxedReads, Map.of(), Map.of());
    }

    /** A pair whose devices have options. */
    NearPair(boolean relaxedReads, Map<String, String> serverOptions, Map<String, String> clientOptions) {
        server = new TestDevice(NearProvider.open(serverOptions, serverMemory));
        client = new TestDevice(NearProvider.open(clientOptions, clientMemory));
        shown = server.own(server.device().allocateMemory(4L * BYTES)).segment();
        sink = client.guarded(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)
                .region();
        Ends ends = connect(relaxedReads);
        pair = ends.client();
        serverPair = ends.server();
    }

    /** Both queue pairs of a connection. */
    record Ends(QueuePair client, QueuePair server) {}

    /** A connection of the two devices. */
    Ends connect(boolean relaxedReads) {
        Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
        QueuePairLimits limits = new QueuePairLimits(16, 16, 1, 1, 64);
        QueuePairAttributes attributes = QueuePairAttributes.of(client.queue(), limits);
        QueuePair connected = client.own(
                connector.createQueuePair(client.domain(), relaxedReads ? attributes.withRelaxedReads() : attributes));
        Thread connecting = Thread.ofPlatform()
                .start(() -> connector.connect(ConnectionParameters.ofReads(16), TestDevice.DEADLINE_NS));
        ConnectionRequest request = server.request();
        QueuePair accepted = server.queuePair(request, limits);
        request.accept(ConnectionParameters.ofReads(16));
        try {
            connecting.join(TimeUnit.NANOSECONDS.toMillis(TestDevice.DEADLINE_NS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new Ends(connected, accepted);
    }

    /** Part of the shown memory, filled, registered. */
    MemoryRegion register(long offset, long length, int fill, AccessFlag... access) {
        return register(server.domain(), offset, length, fill, access);
    }

    MemoryRegion register(ProtectionDomain domain, long offset, long length, int fill, AccessFlag... access) {
        MemorySegment part = shown.asSlice(offset, length).fill((byte) fill);
        return server.own(domain.register(part, Set.of(access)));
    }

    /** READs by this thread, and says how it ended. */
    CompletionStatus read(MemoryRegion region, long offset, long length) {
        return read(region.address() + offset, region.rkey(), length);
    }

    CompletionStatus read(long address, int rkey, long length) {
        if (pair.postRead(nextId, sink, 0, length, address, rkey, SendFlags.SIGNALLED) != PostStatus.ACCEPTED) {
            throw new AssertionError("the send queue is full");
        }
        TestDevice.Completion completion = client.take(1).getFirst();
        if (completion.wrId() != nextId++) {
            throw new AssertionError("the completion of another request: " + completion);
        }
        settle();
        return completion.status();
    }

    /** Waits until the engine has left the batch that gave the completion: only then is the next READ this thread's. */
    private void settle() {
        client.domain()
                .register(sink.memory().asSlice(0, 1), Set.of(AccessFlag.LOCAL_WRITE))
                .close();
    }

    /** A byte that was read. */
    int got(long offset) {
        return sink.memory().get(ValueLayout.JAVA_BYTE, offset);
    }

    /** READs that the requester has done by itself. */
    long near() {
        return client.counter("sameHostReads");
    }

    /** Shown memory of a device, freed with it. */
    static MemorySegment allocate(TestDevice device, long length) {
        HostMemory memory = device.own(device.device().allocateMemory(length));
        return memory.segment();
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
