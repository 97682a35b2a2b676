package org.softrdma.kv.client;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.softrdma.kv.client.place.KnownItems;
import org.softrdma.kv.client.rdma.MemberLoop;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What all clients of one thread share: a protection domain, one completion queue, which it polls or waits for, and the
 * locators of each server's items. Works with devices in engine mode and in manual progress; the latter it drives.
 * Owned by one thread (in manual progress: the one that opened the device); its owner closes the clients first, then
 * this, then the device.
 */
public final class CompletionLoop implements AutoCloseable {
    private final MemberLoop members;
    private final Map<Server, KnownItems> known = new HashMap<>();

    /**
     * Opens one.
     *
     * @param device stays open until after this is closed
     * @param maxClients maximum number of clients at a time
     * @param window the largest window of any of them
     */
    public CompletionLoop(VerbsDevice device, int maxClients, int window) {
        this(device, maxClients, window, SystemNanoClock.INSTANCE, BusySpinIdleStrategy.INSTANCE);
    }

    /**
     * Opens one with another clock.
     *
     * @param device stays open until after this is closed
     * @param maxClients maximum number of clients at a time
     * @param window the largest window of any of them
     * @param clock for time limits
     * @param spin called between two polls of the device, before the thread waits for it
     */
    public CompletionLoop(VerbsDevice device, int maxClients, int window, NanoClock clock, IdleStrategy spin) {
        members = new MemberLoop(device, maxClients, window, clock, spin);
    }

    /**
     * Posts the READs of {@link KvClient#start}, and takes completions; results of READs are kept for {@link
     * KvClient#deliver}. Does not wait.
     *
     * @return the number of completions
     */
    public int poll() {
        return members.poll();
    }

    /**
     * As {@link #poll}, but waits for completions.
     *
     * @param timeoutNs how long to wait
     * @return the number of completions, 0 at the end of the time
     */
    public int await(long timeoutNs) {
        return members.await(timeoutNs);
    }

    /** The clients of this loop. */
    MemberLoop members() {
        return members;
    }

    /** A server, and how many of its items are to be known. */
    private record Server(InetSocketAddress address, int locatorCapacity) {}

    /** What clients of this loop know of a server; those that want as many places of items share it. */
    KnownItems known(KvClientContext context) {
        return known.computeIfAbsent(
                new Server(context.server(), context.locatorCapacity()),
                _ -> new KnownItems(context.locatorCapacity(), context.random()));
    }

    @Override
    public void close() {
        members.close();
    }
}
