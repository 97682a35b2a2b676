package org.softrdma.kv.server;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Queue pairs that exist before anybody knows whose they are: only of a device without private data, whose clients show their token in
 * the first SEND. They are few, few of each address, and not for long, so that they take nothing from those that are known.
 * Thread-safe.
 */
final class Strangers {
    /** Most of all addresses. */
    static final int MOST = 64;

    /** Most of one address. */
    static final int MOST_OF_ADDRESS = 16;

    private static final int SHARE_OF_HELLO_TIMEOUT = 6;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<InetAddress, Integer> counts = new HashMap<>();
    private int count;

    /** How long one may take to show its token, of the time that those have who are known. */
    static long timeoutNs(long helloTimeoutNs) {
        return helloTimeoutNs / SHARE_OF_HELLO_TIMEOUT;
    }

    /** True if there may be one more of this address; it counts until {@link #leave}. */
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

    /** One is known now, or gone. */
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
