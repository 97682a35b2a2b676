package org.softrdma.kv.server.rdma;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts queue pairs that ended because their peer used a wrong key, per address (for IPv6 per 64-bit prefix, within
 * which one host may choose), and refuses such addresses for a while. A correct client never uses a wrong key; a few
 * are forgiven for the sake of software under development. From the {@link #FORGIVEN}-th on, each starts a pause
 * twice as long as the last one. An hour after the last pause everything is forgotten. Bounded in size. Thread-safe.
 */
public final class WrongKeys {
    /** The wrong key that starts the first pause. */
    public static final int FORGIVEN = 4;

    static final long FIRST_PAUSE_NS = TimeUnit.MINUTES.toNanos(1);
    static final long LONGEST_PAUSE_NS = TimeUnit.HOURS.toNanos(1);

    /** The most addresses remembered. Beyond it, the one whose pause ends first is forgotten. */
    static final int MOST_PEERS = 4096;

    private static final int IPV6_PREFIX_BYTES = 8;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Peer, Account> accounts = new HashMap<>();

    /** The part of an address that counts, as bytes in hexadecimal digits. */
    private record Peer(String prefix) {
        static Peer of(InetAddress address) {
            byte[] bytes = address.getAddress();
            int length = address instanceof Inet6Address ? IPV6_PREFIX_BYTES : bytes.length;
            return new Peer(HexFormat.of().formatHex(bytes, 0, length));
        }
    }

    private static final class Account {
        private int count;
        private long pauseNs;
        private long pausedUntilNs;
    }

    /**
     * A queue pair of this address has used a wrong key.
     *
     * @param nowNs the time, of {@link System#nanoTime}
     * @return how long the address is refused from now on; 0 if this one is forgiven
     */
    long count(InetAddress address, long nowNs) {
        lock.lock();
        try {
            Peer peer = Peer.of(address);
            Account known = accounts.get(peer);
            if (known == null || isForgotten(known, nowNs)) {
                makeRoom();
                known = new Account();
                known.pausedUntilNs = nowNs;
                accounts.put(peer, known);
            }
            known.count++;
            if (known.count < FORGIVEN) {
                known.pausedUntilNs = nowNs; // an hour from now it is forgotten
                return 0;
            }
            known.pauseNs = known.pauseNs == 0 ? FIRST_PAUSE_NS : Math.min(2 * known.pauseNs, LONGEST_PAUSE_NS);
            known.pausedUntilNs = nowNs + known.pauseNs;
            return known.pauseNs;
        } finally {
            lock.unlock();
        }
    }

    /** How long the address is still refused; 0 if it is not. */
    public long pausedForNs(InetAddress address, long nowNs) {
        lock.lock();
        try {
            Account known = accounts.get(Peer.of(address));
            return known == null ? 0 : Math.max(0, known.pausedUntilNs - nowNs);
        } finally {
            lock.unlock();
        }
    }

    /** How many addresses are refused. */
    public long paused(long nowNs) {
        lock.lock();
        try {
            return accounts.values().stream()
                    .filter(each -> each.pausedUntilNs - nowNs > 0)
                    .count();
        } finally {
            lock.unlock();
        }
    }

    /** How many addresses are remembered. */
    int remembered() {
        lock.lock();
        try {
            return accounts.size();
        } finally {
            lock.unlock();
        }
    }

    /** True if both are refused and forgiven as one. */
    static boolean isSamePeer(InetAddress one, InetAddress other) {
        return Peer.of(one).equals(Peer.of(other));
    }

    private static boolean isForgotten(Account known, long nowNs) {
        return nowNs - known.pausedUntilNs > LONGEST_PAUSE_NS;
    }

    private void makeRoom() {
        if (accounts.size() >= MOST_PEERS) {
            accounts.entrySet().stream()
                    .min(Comparator.comparingLong(each -> each.getValue().pausedUntilNs))
                    .map(Map.Entry::getKey)
                    .ifPresent(accounts::remove);
        }
    }
}
