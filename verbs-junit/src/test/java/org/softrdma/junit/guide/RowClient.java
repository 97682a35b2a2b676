package org.softrdma.junit.guide;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** READs the rows of a server, and waits for each for a second at most. One thread. */
final class RowClient implements AutoCloseable {
    static final int DEPTH = 4;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final HostMemory memory;
    private final MemoryRegion sinks;
    private final Connector connector;
    private final QueuePair pair;
    private final WorkCompletion[] done = WorkCompletion.array(1);
    private final long remote;
    private final int rkey;
    private long reads;

    RowClient(VerbsDevice device, InetSocketAddress server, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        domain = device.allocateProtectionDomain();
        queue = device.createCompletionQueue(2 * DEPTH);
        memory = device.allocateMemory((long) DEPTH * Long.BYTES);
        sinks = domain.register(memory.segment(), Set.of(AccessFlag.READ_SINK));
        connector = device.resolve(server, PATIENCE_NS);
        pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(DEPTH, 1)));
        ByteBuffer place = ByteBuffer.wrap(connector.connect(ConnectionParameters.DEFAULT, PATIENCE_NS));
        remote = place.getLong();
        rkey = place.getInt();
    }

    // docs: get
    long get(int row) throws IOException {
        while (queue.poll(done) > 0) {
            // An answer that nobody waits for any more: its slot in the send queue is free again.
        }
        long wrId = reads;
        long sink = wrId % DEPTH * Long.BYTES;
        long source = remote + (long) row * Long.BYTES;
        PostStatus posted = pair.postRead(wrId, sinks, sink, Long.BYTES, source, rkey, SendFlags.SIGNALLED);
        if (posted != PostStatus.ACCEPTED) {
            throw new IOException(posted.name());
        }
        reads++;
        long endNs = nanoTime.getAsLong() + LIMIT_NS;
        while (nanoTime.getAsLong() < endNs) {
            if (queue.poll(done) > 0 && done[0].wrId() == wrId) {
                if (done[0].status() != CompletionStatus.SUCCESS) {
                    throw new IOException(done[0].status().name());
                }
                return memory.segment().get(ValueLayout.JAVA_LONG, sink);
            }
        }
        throw new IOException("no answer");
    }
    // docs: end

    @Override
    public void close() {
        pair.close();
        connector.close();
        sinks.close();
        memory.close();
        queue.close();
        domain.close();
    }
}
