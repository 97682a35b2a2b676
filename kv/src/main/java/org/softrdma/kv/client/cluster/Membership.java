package org.softrdma.kv.client.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.agrona.concurrent.NanoClock;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvRefusedException;

/**
 * Which servers of a cluster are in, and where keys live meanwhile. A server that fails often enough in a row is
 * ejected, and is in again when its time is over; then one failure is enough. The last server is never ejected:
 * somebody has to fail.
 *
 * <p>Thread-safe. Looking up a key takes no lock while no ejected server's time is over.
 */
final class Membership {
    private final List<ClusterServer> servers;
    private final int ejectAfter;
    private final long retryNs;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();

    /** Changed under the lock. */
    private final AtomicIntegerArray failures;

    // Under the lock.
    private final long[] ejectedUntilNs;
    private final boolean[] live;

    private volatile Circle circle;

    /**
     * Where keys live, and when that changes without a failure.
     *
     * @param ketama of the live servers
     * @param whole no server is ejected
     * @param nextNs when the next ejected server is in again; only if not whole
     */
    private record Circle(Ketama ketama, boolean whole, long nextNs) {}

    Membership(KvClusterContext context, NanoClock clock) {
        servers = context.servers();
        ejectAfter = context.ejectAfter();
        retryNs = context.retryNs();
        this.clock = clock;
        failures = new AtomicIntegerArray(servers.size());
        ejectedUntilNs = new long[servers.size()];
        live = new boolean[servers.size()];
        Arrays.fill(live, true);
        circle = new Circle(new Ketama(servers, live), true, 0);
    }

    /** Index of the server that a key lives on now. */
    int serverOf(byte[] key) {
        Circle current = circle;
        if (!current.whole && clock.nanoTime() - current.nextNs >= 0) {
            current = readmit();
        }
        return current.ketama.server(key);
    }

    /**
     * Asks a server something, and counts whether it answered.
     *
     * @param server its index
     * @param request asks it
     */
    <R> R counted(int server, Supplier<R> request) {
        try {
            R result = request.get();
            answered(server);
            return result;
        } catch (KvException e) {
            told(server, e);
            throw e;
        }
    }

    /**
     * A request to a server failed.
     *
     * @param server its index
     * @param failure a refusal is an answer too
     */
    void told(int server, KvException failure) {
        if (failure instanceof KvRefusedException) {
            answered(server);
        } else {
            failed(server);
        }
    }

    /** A request to a server was answered. */
    void answered(int server) {
        if (failures.get(server) == 0) {
            return;
        }
        lock.lock();
        try {
            failures.set(server, 0);
        } finally {
            lock.unlock();
        }
    }

    private void failed(int server) {
        if (ejectAfter == 0) {
            return;
        }
        lock.lock();
        try {
            int inARow = failures.incrementAndGet(server);
            if (live[server] && inARow >= ejectAfter && liveCount() > 1) {
                live[server] = false;
                ejectedUntilNs[server] = clock.nanoTime() + retryNs;
                circle = drawn();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The servers that are ejected now. */
    List<ClusterServer> ejected() {
        lock.lock();
        try {
            List<ClusterServer> ejected = new ArrayList<>();
            for (int i = 0; i < live.length; i++) {
                if (!live[i] && clock.nanoTime() - ejectedUntilNs[i] < 0) {
                    ejected.add(servers.get(i));
                }
            }
            return ejected;
        } finally {
            lock.unlock();
        }
    }

    private Circle readmit() {
        lock.lock();
        try {
            long nowNs = clock.nanoTime();
            for (int i = 0; i < live.length; i++) {
                if (!live[i] && nowNs - ejectedUntilNs[i] >= 0) {
                    live[i] = true;
                    failures.set(i, ejectAfter - 1);
                }
            }
            circle = drawn();
            return circle;
        } finally {
            lock.unlock();
        }
    }

    private int liveCount() {
        int count = 0;
        for (boolean one : live) {
            count += one ? 1 : 0;
        }
        return count;
    }

    private Circle drawn() {
        long nowNs = clock.nanoTime();
        long leastLeftNs = Long.MAX_VALUE;
        for (int i = 0; i < live.length; i++) {
            if (!live[i]) {
                leastLeftNs = Math.min(leastLeftNs, ejectedUntilNs[i] - nowNs);
            }
        }
        boolean whole = leastLeftNs == Long.MAX_VALUE;
        return new Circle(new Ketama(servers, live), whole, whole ? 0 : nowNs + leastLeftNs);
    }
}
