package org.softrdma.kv.client.rdma;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A protection domain and one completion queue, polled or waited for, whose completions are handed to the members
 * that posted the work. Works with devices that drive themselves and with devices in manual progress, which this
 * drives. Owned by one thread (in manual progress: the one that opened the device).
 */
public final class MemberLoop implements AutoCloseable {
    private static final int BATCH = 64;
    private static final int EMPTY_POLLS_PER_REPORT = 64;
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final CloseStack owned = new CloseStack();
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue queue;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final NanoClock clock;
    private final IdleStrategy spin;
    private final @Nullable LoopMember[] members;
    private int entriesLeft;
    private int emptyPolls;
    private boolean prepared;

    /**
     * Opens one.
     *
     * @param device stays open until after this is closed
     * @param maxMembers members there may be at a time
     * @param window the largest window of any of them
     * @param clock for limits
     * @param spin what is done between two looks at the device, before it is waited for
     */
    public MemberLoop(VerbsDevice device, int maxMembers, int window, NanoClock clock, IdleStrategy spin) {
        this.device = device;
        this.clock = clock;
        this.spin = spin;
        boolean manual = device.manualProgress();
        this.members = new LoopMember[maxMembers];
        this.entriesLeft = Math.multiplyExact(maxMembers, new QueueDepth(window).completions());
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
     * Posts what members have prepared, and hands out what has completed. Does not wait.
     *
     * @return the number of completions
     */
    public int poll() {
        if (prepared) {
            postPrepared();
            prepared = false;
        }
        int count = queue.poll(batch, BATCH);
        long nowNs = count == 0 ? 0 : clock.nanoTime(); // once: to ask takes a third as long as a READ on the same host
        for (int i = 0; i < count; i++) {
            LoopMember member = members[(int) (batch[i].wrId() >>> Integer.SIZE)];
            if (member != null) {
                member.complete(batch[i], nowNs);
            }
        }
        if (count == 0 && ++emptyPolls % EMPTY_POLLS_PER_REPORT == 0) {
            reportTouches();
        }
        return count;
    }

    /** A member has work that the next {@link #poll} is to post. */
    void prepared() {
        prepared = true;
    }

    private void postPrepared() {
        for (LoopMember member : members) {
            if (member != null) {
                member.postPrepared();
            }
        }
    }

    /**
     * As {@link #poll}, but waits until something has completed.
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
        long spinUntilNs = clock.nanoTime() + Math.min(SPIN_NS, timeoutNs);
        while (count == 0 && clock.nanoTime() - spinUntilNs < 0) {
            spin.idle();
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

    /** Lets members report what they READ, if that is due. */
    private void reportTouches() {
        long nowNs = clock.nanoTime();
        for (LoopMember member : members) {
            if (member != null) {
                member.reportTouches(nowNs);
            }
        }
    }

    /** Has the next completion raise an event for {@link #awaitEvent}; poll once more before waiting. */
    public void arm() {
        queue.requestNotification(false);
    }

    /** Waits for an event, on a device that drives itself; false at the end of the time. Any thread. */
    public boolean awaitEvent(long timeoutNs) {
        Optional<CompletionQueue> ready = Objects.requireNonNull(channel).await(timeoutNs);
        ready.ifPresent(signalled -> signalled.acknowledgeEvents(1));
        return ready.isPresent();
    }

    /** The device whose completions these are. */
    public VerbsDevice device() {
        return device;
    }

    ProtectionDomain domain() {
        return domain;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** Makes room for a member; its number, which is the upper half of the numbers of its work requests. */
    int add(LoopMember member, int entries) {
        for (int i = 0; i < members.length; i++) {
            if (members[i] == null) {
                if (entries > entriesLeft) {
                    throw new IllegalStateException(
                            "entries=" + entries + " > entriesLeft=" + entriesLeft + " of the completion loop");
                }
                entriesLeft -= entries;
                members[i] = member;
                return i;
            }
        }
        throw new IllegalStateException("the completion loop has its " + members.length + " members already");
    }

    void remove(int index, int entries) {
        members[index] = null;
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
