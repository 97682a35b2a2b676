package org.softrdma.sanitiser.watch;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which two queue pairs of this process are the ends of one connection.
 *
 * <p>They are matched by addresses: the one that connected knows its own address and the one it connected to, and the
 * one that accepted knows the address it listens at and its peer's. If the listener has a wildcard address, the one
 * that was connected to must be of this machine. A provider that does not tell the address of a connector gets no
 * matches. Thread-safe.
 */
public final class PeerTable {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, Half> connected = new HashMap<>();
    private final Map<Path, Half> accepted = new HashMap<>();

    private record Path(InetSocketAddress connectingEnd, int listeningPort) {}

    private record Half(QueuePairRecord queuePair, InetSocketAddress listening) {}

    PeerTable() {}

    /**
     * A queue pair has connected.
     *
     * @param queuePair the queue pair
     * @param local its address; null if the provider does not tell
     * @param remote the address that it connected to
     */
    void connected(QueuePairRecord queuePair, @Nullable InetSocketAddress local, InetSocketAddress remote) {
        queuePair.addresses(local, remote);
        if (local == null) {
            return;
        }
        Path path = new Path(local, remote.getPort());
        lock.lock();
        try {
            Half other = accepted.get(path);
            if (other != null && isSameListener(other.listening, remote)) {
                accepted.remove(path);
                match(queuePair, other.queuePair);
            } else {
                connected.put(path, new Half(queuePair, remote));
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * A queue pair is about to be accepted.
     *
     * @param queuePair the queue pair
     * @param listening address of the listener
     * @param remote address of the peer
     */
    void accepting(QueuePairRecord queuePair, InetSocketAddress listening, InetSocketAddress remote) {
        queuePair.addresses(listening, remote);
        Path path = new Path(remote, listening.getPort());
        lock.lock();
        try {
            Half other = connected.get(path);
            if (other != null && isSameListener(listening, other.listening)) {
                connected.remove(path);
                match(other.queuePair, queuePair);
            } else {
                accepted.put(path, new Half(queuePair, listening));
            }
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair was closed. */
    void closed(QueuePairRecord queuePair) {
        lock.lock();
        try {
            connected.values().removeIf(half -> half.queuePair.equals(queuePair));
            accepted.values().removeIf(half -> half.queuePair.equals(queuePair));
        } finally {
            lock.unlock();
        }
    }

    private static void match(QueuePairRecord one, QueuePairRecord other) {
        one.peer(other);
        other.peer(one);
    }

    private static boolean isSameListener(InetSocketAddress listening, InetSocketAddress connectedTo) {
        InetAddress target = connectedTo.getAddress();
        return listening.equals(connectedTo)
                || (target != null && listening.getAddress().isAnyLocalAddress() && isOfThisMachine(target));
    }

    private static boolean isOfThisMachine(InetAddress address) {
        try {
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }
}
