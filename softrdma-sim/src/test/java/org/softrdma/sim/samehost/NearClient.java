package org.softrdma.sim.samehost;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Map;
import org.softrdma.sim.NearProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/** A device that reads from a server which accepts by itself, and that connects again when its connection has ended. */
final class NearClient implements AutoCloseable {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(16, 16, 1, 1, 0);

    final TestDevice device;
    private final InetSocketAddress server;
    private final MemoryRegion sink;
    private QueuePair pair;

    NearClient(InetSocketAddress server, int length) {
        this(server, length, Map.of());
    }

    NearClient(InetSocketAddress server, int length, Map<String, String> options) {
        this.server = server;
        device = new TestDevice(NearProvider.open(options, new NearProvider.Memory()));
        sink = device.guarded(length, AccessFlag.LOCAL_WRITE).region();
        pair = connect(server);
    }

    /** Another connection, which the caller closes. */
    QueuePair connect(InetSocketAddress to) {
        Connector connector = device.device().resolve(to, TestDevice.DEADLINE_NS);
        QueuePair made = connector.createQueuePair(device.domain(), QueuePairAttributes.of(device.queue(), LIMITS));
        connector.connect(ConnectionParameters.ofReads(16), TestDevice.DEADLINE_NS);
        return made;
    }

    void reconnect() {
        pair.close();
        pair = connect(server);
    }

    QueuePair pair() {
        return pair;
    }

    CompletionStatus read(long address, int rkey) {
        post(address, rkey);
        return device.take(1).getFirst().status();
    }

    /** Only posts the READ. */
    void post(long address, int rkey) {
        if (pair.postRead(1, sink, 0, sink.length(), address, rkey, SendFlags.SIGNALLED) != PostStatus.ACCEPTED) {
            throw new AssertionError("the send queue is full");
        }
    }

    /** Ends the queue pair by a request that is wrong on this side: its sink may not be written. */
    CompletionStatus fail(long address, int rkey) {
        MemoryRegion unwritable =
                device.guarded((int) sink.length(), AccessFlag.REMOTE_READ).region();
        if (pair.postRead(1, unwritable, 0, sink.length(), address, rkey, SendFlags.SIGNALLED) != PostStatus.ACCEPTED) {
            throw new AssertionError("the send queue is full");
        }
        return device.take(1).getFirst().status();
    }

    long near() {
        return device.counter("sameHostReads");
    }

    long word(long index) {
        return sink.memory().getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, index);
    }

    /** The word that all of the sink is made of. */
    long uniform(String what) {
        long first = word(0);
        for (long i = 1; i < sink.length() / Long.BYTES; i++) {
            if (word(i) != first) {
                throw new AssertionError(what + ": torn, word 0 is " + first + " and word " + i + " is " + word(i));
            }
        }
        return first;
    }

    @Override
    public void close() {
        pair.close();
        device.close();
    }
}
