package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client without a connection, at the server: an unreliable connection that takes its WRITEs, its slots, and the way to it.
 * Nothing tells that it has gone, so its slots are its own for a time only ({@link #LEASE_NS}) if it asks for nothing.
 */
final class UdPeer implements HerdPeer, AutoCloseable {
    /** A client that asks for nothing in this time loses its slots. */
    static final long LEASE_NS = TimeUnit.SECONDS.toNanos(30);

    private static final QueuePairLimits NOTHING_POSTED = new QueuePairLimits(1, 1, 1, 1, 0);

    private final Common common;
    private final long client;
    private final QueuePairAddress writer;
    private final QueuePairAddress taker;
    private final int takerKey;
    private final RegisteredMemory slots;
    private final UnconnectedQueuePair queuePair;
    private final AddressHandle way;
    private final UdReplies[] replies;
    private @Nullable HerdWelcome welcome;
    private boolean open = true;
    private boolean released;

    /**
     * What all peers of a port have in common.
     *
     * @param completions of queue pairs that complete nothing
     * @param polled true for slots in memory that the device writes in order for who polls it
     * @param workers the answers of each worker
     * @param dropping ends a peer
     * @param releasing frees the memory of one that has ended
     */
    record Common(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            HerdShape shape,
            boolean polled,
            List<UdAnswers> workers,
            Consumer<UdPeer> dropping,
            Consumer<UdPeer> releasing) {}

    /**
     * Admits a client, which has said hello now.
     *
     * @param common of its port
     * @param client as it has named itself
     * @param writer from where its requests come
     * @param taker where its answers go
     * @param takerKey that an answer must carry
     * @param nowNs the time
     * @throws org.softrdma.verbs.VerbsException if there is no room for it
     * @throws IllegalArgumentException if no device like this can be where it says
     */
    UdPeer(Common common, long client, QueuePairAddress writer, QueuePairAddress taker, int takerKey, long nowNs) {
        this.common = common;
        this.client = client;
        this.writer = writer;
        this.taker = taker;
        this.takerKey = takerKey;
        RegisteredMemory written = null;
        UnconnectedQueuePair pair = null;
        try {
            written = new RegisteredMemory(
                    common.device(), common.domain(), common.shape().length(), slotAccess(common.polled()));
            slots = written;
            pair = common.domain()
                    .createQueuePair(QueuePairAttributes.of(common.completions(), NOTHING_POSTED)
                            .withType(QueuePairType.UNRELIABLE_CONNECTION));
            queuePair = pair;
            pair.connect(writer, 0, 0);
            way = common.domain().createAddressHandle(taker.host());
        } catch (RuntimeException e) {
            CloseHelper.closeAll(pair, written);
            throw e;
        }
        replies = common.workers().stream()
                .map(answers -> new UdReplies(answers, way, taker.number(), takerKey, nowNs))
                .toArray(UdReplies[]::new);
    }

    private static Set<AccessFlag> slotAccess(boolean polled) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (polled) {
            access.add(AccessFlag.POLLED);
        }
        return access;
    }

    long client() {
        return client;
    }

    /** True of the queue pair whose WRITEs it takes. */
    boolean isFrom(QueuePairAddress other) {
        return writer.equals(other);
    }

    RemoteRegion remoteSlots() {
        return slots.region().remote();
    }

    /** Where its requests go. */
    QueuePairAddress address() {
        return queuePair.address();
    }

    /** The way to it, which its port closes. */
    AddressHandle way() {
        return way;
    }

    int number() {
        return taker.number();
    }

    int key() {
        return takerKey;
    }

    /** What it was told; null until the server has said it. */
    @Nullable
    HerdWelcome welcome() {
        return welcome;
    }

    void welcomed(HerdWelcome told) {
        welcome = told;
    }

    /** True if it has been silent for too long, or its queue pair has failed. */
    boolean isOver(long nowNs) {
        if (hasFailed()) {
            return true;
        }
        for (UdReplies each : replies) {
            if (nowNs - each.heardNs() <= LEASE_NS) {
                return false;
            }
        }
        return true;
    }

    private boolean hasFailed() {
        QueuePairState state = queuePair.state();
        return state == QueuePairState.ERROR || state == QueuePairState.SEND_QUEUE_ERROR;
    }

    @Override
    public MemorySegment slots() {
        return slots.segment();
    }

    @Override
    public HerdReplies replies(int worker) {
        return replies[worker];
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void drop() {
        common.dropping().accept(this);
    }

    /** It is gone. What it WRITEs still, nobody looks at. */
    void end() {
        open = false;
    }

    @Override
    public void release() {
        common.releasing().accept(this);
    }

    @Override
    public void close() {
        if (!released) {
            released = true;
            open = false;
            CloseHelper.closeAll(queuePair, slots); // the device touches no slot once the queue pair is closed
        }
    }
}
