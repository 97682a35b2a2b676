package org.softrdma.kv.client;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What all clients of one thread share: a protection domain, one completion queue, polled or waited for, and where the items of
 * each server are. Works with
 * devices that drive themselves and with devices in manual progress, which this drives. Owned by one thread (in manual
 * progress: the one that opened the device); its owner closes the clients first, then this, then the device.
 */
public final class CompletionLoop implements AutoCloseable {
    private static final int BATCH = 64;
    private static final int EMPTY_POLLS_PER_REPORT = 64;
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final CloseStack owned = new CloseStack();
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue queue;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final @Nullable RemoteReader[] readers;
    private final Map<Server, KnownItems> known = new HashMap<>();
    private int entriesLeft;
    private int emptyPolls;

    /**
     * Opens one.
     *
     * @param device stays open until after this is closed
     * @param maxClients clients there may be at a time
     * @param window the largest window of any of them
     */
    public CompletionLoop(VerbsDevice device, int maxClients, int window) {
        this.device = device;
        boolean manual = device.manualProgress();
        this.readers = new RemoteReader[maxClients];
        this.entriesLeft = Math.multiplyExact(maxClients, RemoteReader.completionsOf(window));
        try {
            domain = owned.add(device.allocateProtectionDomain());
            channel = manual ? null : owned.add(device.createCompletionChannel());
            queue = owned.add(
                    channel == null
                            ? device.createCompletionQueue(entriesLeft)
                            : device.createCompletionQueue(entriesLeft, channel, 0));
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /**
     * Takes what has completed; results of READs wait at their clients, see {@link KvClient#deliver}. Does not wait.
     *
     * @return the number of completions
     */
    public int poll() {
        int count = queue.poll(batch, BATCH);
        for (int i = 0; i < count; i++) {
            RemoteReader reader = readers[RemoteReader.indexOf(batch[i].wrId())];
            if (reader != null) {
                reader.complete(batch[i]);
            }
        }
        if (count == 0 && ++emptyPolls % EMPTY_POLLS_PER_REPORT == 0) {
            reportTouches();
        }
        return count;
    }

    /**
     * Waits until something has completed, and takes it.
     *
     * @param timeoutNs how long to wait
     * @return the number of completions, 0 at the end of the time
     */
    public int await(long timeoutNs) {
        int count = poll();
        if (count > 0 || timeoutNs <= 0) {
            return count;
        }
        reportTouches();
        if (channel == null) {
            device.progress(timeoutNs);
            return poll();
        }
        long spinUntilNs = System.nanoTime() + Math.min(SPIN_NS, timeoutNs);
        while (count == 0 && System.nanoTime() - spinUntilNs < 0) {
            Thread.onSpinWait();
            count = poll();
        }
        if (count == 0) {
            queue.requestNotification(false);
            count = poll();
        }
        if (count == 0) {
            awaitEvent(timeoutNs);
            count = poll();
        }
        return count;
    }

    /** Lets clients report what they READ, if that is due; clients that are never polled again do so when they close. */
    private void reportTouches() {
        long nowNs = System.nanoTime();
        for (RemoteReader reader : readers) {
            if (reader != null) {
                reader.reportTouches(nowNs);
            }
        }
    }

    /** Has the next completion raise an event for {@link #awaitEvent}; poll once more before waiting. */
    void arm() {
        queue.requestNotification(false);
    }

    /** Waits for an event, on a device that drives itself; false at the end of the time. Any thread. */
    boolean awaitEvent(long timeoutNs) {
        Optional<CompletionQueue> ready = Objects.requireNonNull(channel).await(timeoutNs);
        ready.ifPresent(signalled -> signalled.acknowledgeEvents(1));
        return ready.isPresent();
    }

    /** A server, and how many of its items are to be known. */
    private record Server(InetSocketAddress address, int stagCapacity) {}

    /** What clients of this loop know of a server; those that want as many places of items share it. */
    KnownItems known(InetSocketAddress server, int stagCapacity) {
        return known.computeIfAbsent(new Server(server, stagCapacity), key -> new KnownItems(stagCapacity));
    }

    VerbsDevice device() {
        return device;
    }

    ProtectionDomain domain() {
        return domain;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** Makes room for a reader; its number. */
    int add(RemoteReader reader, int entries) {
        for (int i = 0; i < readers.length; i++) {
            if (readers[i] == null) {
                if (entries > entriesLeft) {
                    throw new IllegalStateException(
                            "entries=" + entries + " > entriesLeft=" + entriesLeft + " of the completion loop");
                }
                entriesLeft -= entries;
                readers[i] = reader;
                return i;
            }
        }
        throw new IllegalStateException("the completion loop has its " + readers.length + " clients already");
    }

    void remove(int index, int entries) {
        readers[index] = null;
        entriesLeft += entries;
    }

    @Override
    public void close() {
        drainEvents();
        owned.close();
    }

    /** Events that were raised after our last wait have to be taken before their queue can be closed. */
    private void drainEvents() {
        if (channel != null) {
            Optional<CompletionQueue> signalled = channel.await(0);
            while (signalled.isPresent()) {
                signalled.get().acknowledgeEvents(1);
                signalled = channel.await(0);
            }
        }
    }
}
