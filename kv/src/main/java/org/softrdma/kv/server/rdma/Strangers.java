package org.softrdma.kv.server.rdma;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts queue pairs whose owner is not known yet. They exist only on devices without private data, where clients
 * show their token in the first SEND. Their number is limited, in all and per address, and so is their time: they
 * take nothing from clients that are known. Thread-safe.
 */
public final class Strangers {
    /** The limit for all addresses together. */
    public static final int MOST = 64;

    /** The limit for one address. */
    public static final int MOST_OF_ADDRESS = 16;

    private static final int SHARE_OF_HELLO_TIMEOUT = 6;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<InetAddress, Integer> counts = new HashMap<>();
    private int count;

    /** How long a stranger may take to show its token: a part of the time that known clients have for their hello. */
    static long timeoutNs(long helloTimeoutNs) {
        return helloTimeoutNs / SHARE_OF_HELLO_TIMEOUT;
    }

    /** True if this address may have one more, which counts until {@link #leave}. */
    boolean enter(InetAddress address) {
        lock.lock();
        try {
            int same = counts.getOrDefault(address, 0);
            if (count == MOST || same == MOST_OF_ADDRESS) {
                return false;
            }
            count++;
            counts.put(address, same + 1);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** A stranger has become known, or is gone. */
    void leave(InetAddress address) {
        lock.lock();
        try {
            count--;
            counts.computeIfPresent(address, (each, same) -> same == 1 ? null : Integer.valueOf(same - 1));
        } finally {
            lock.unlock();
        }
    }
}
