package org.softrdma.sanitiser.watch;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
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
    private final int number;
    private final Supplier<QueuePairState> state;
    private final AtomicLong receivesPosted = new AtomicLong();
    private final AtomicLong sendsPosted = new AtomicLong();

    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;
    private volatile @Nullable QueuePairRecord peer;

    QueuePairRecord(String device, int number, Supplier<QueuePairState> state) {
        this.device = device;
        this.number = number;
        this.state = state;
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
        QueuePairState now = state.get();
        return now == QueuePairState.INITIAL || now == QueuePairState.READY_TO_SEND;
    }

    /** True if it is connected and has not failed. */
    boolean isReady() {
        return state.get() == QueuePairState.READY_TO_SEND;
    }

    ConnectionEnds ends() {
        QueuePairRecord other = peer;
        return new ConnectionEnds(name(), other == null ? new QueuePairName(null, null, remote) : other.name());
    }

    private QueuePairName name() {
        return new QueuePairName(device, number, local);
    }
}
