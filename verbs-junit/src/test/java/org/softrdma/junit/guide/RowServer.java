package org.softrdma.junit.guide;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Rows of eight bytes that one client READs. It is told where they are when it connects. Any thread closes. */
final class RowServer implements AutoCloseable {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final HostMemory memory;
    private final MemoryRegion rows;
    private final Listener listener;

    RowServer(VerbsDevice device, InetSocketAddress address, long... values) {
        domain = device.allocateProtectionDomain();
        queue = device.createCompletionQueue(2);
        memory = device.allocateMemory((long) values.length * Long.BYTES);
        rows = domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ));
        for (int row = 0; row < values.length; row++) {
            memory.segment().setAtIndex(ValueLayout.JAVA_LONG, row, values[row]);
        }
        listener = device.listen(address, 1);
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    /** Serves one client until it goes. */
    void serve() {
        try (ConnectionRequest request = listener.next(PATIENCE_NS).orElseThrow();
                QueuePair pair =
                        request.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1)))) {
            byte[] place = ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                    .putLong(rows.address())
                    .putInt(rows.rkey())
                    .array();
            request.accept(ConnectionParameters.DEFAULT.withPrivateData(place));
            while (!pair.disconnected().toCompletableFuture().isDone()) {
                queue.poll(WorkCompletion.array(1)); // the device serves the READs
            }
        }
    }

    /** From now on nobody reads the rows. */
    void revoke() {
        rows.close();
    }

    @Override
    public void close() {
        listener.close();
        rows.close();
        memory.close();
        queue.close();
        domain.close();
    }
}
