package org.softrdma.sanitiser.watch;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.ConnectionEnds;
import org.softrdma.sanitiser.finding.QueuePairName;
import org.softrdma.verbs.QueuePairState;

/**
 * A queue pair as its peer sees it: its name, its addresses, and how many RECVs and SENDs it has posted. Thread-safe.
 */
public final class QueuePairRecord {
    private final String device;
    private final @Nullable Integer number;
    private final Supplier<QueuePairState> state;
    private final AtomicLong receivesPosted = new AtomicLong();
    private final AtomicLong sendsPosted = new AtomicLong();

    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;
    private volatile @Nullable QueuePairRecord peer;
    private volatile boolean sharesReceives;
    /** Of one that takes datagrams. */
    private volatile @Nullable Integer queueKey;

    private final AtomicLong longestReceive = new AtomicLong();

    QueuePairRecord(String device, @Nullable Integer number, Supplier<QueuePairState> state) {
        this.device = device;
        this.number = number;
        this.state = state;
    }

    /**
     * Stands for a shared receive queue, whose RECVs belong to no queue pair while they are outstanding.
     *
     * @param device name of its device
     * @param open false once it is closed
     */
    static QueuePairRecord ofSharedQueue(String device, BooleanSupplier open) {
        return new QueuePairRecord(
                device, null, () -> open.getAsBoolean() ? QueuePairState.READY_TO_SEND : QueuePairState.CLOSED);
    }

    void addresses(@Nullable InetSocketAddress ofThis, InetSocketAddress ofPeer) {
        local = ofThis;
        remote = ofPeer;
    }

    void peer(QueuePairRecord other) {
        peer = other;
    }

    /** The other end; null if it is not known, or of another process. */
    @Nullable
    QueuePairRecord peer() {
        return peer;
    }

    /** Its RECVs come from a shared receive queue. */
    void shareReceives() {
        sharesReceives = true;
    }

    /** True if its RECVs come from a shared receive queue, so that nobody can count them. */
    boolean sharesReceives() {
        return sharesReceives;
    }

    /** It takes datagrams with this key. */
    void takesDatagrams(int key) {
        queueKey = key;
    }

    /** The key of the datagrams that it takes; null if it takes none. */
    @Nullable
    Integer queueKey() {
        return queueKey;
    }

    /** Bytes of the longest RECV that it has posted. */
    AtomicLong longestReceive() {
        return longestReceive;
    }

    /** RECVs that were posted, also those that are being posted. */
    AtomicLong receivesPosted() {
        return receivesPosted;
    }

    /** SENDs that were posted. */
    AtomicLong sendsPosted() {
        return sendsPosted;
    }

    /** True if the device may still move data for it. */
    boolean isAlive() {
        return switch (state.get()) {
            case INITIAL, READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR -> true;
            case RESET, ERROR, CLOSED -> false;
        };
    }

    /** True if it is connected and has not failed. */
    boolean isReady() {
        return state.get() == QueuePairState.READY_TO_SEND;
    }

    /** Both ends of its connection; null for a shared receive queue. */
    @Nullable
    ConnectionEnds ends() {
        if (number == null) {
            return null;
        }
        QueuePairRecord other = peer;
        return new ConnectionEnds(name(), other == null ? new QueuePairName(null, null, remote) : other.name());
    }

    /** For people. */
    @Override
    public String toString() {
        return number == null ? "a shared receive queue of " + device : name().toString();
    }

    private QueuePairName name() {
        return new QueuePairName(device, number, local);
    }
}
