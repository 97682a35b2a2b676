package org.softrdma.sanitiser.device;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.sanitiser.watch.CallSite;
import org.softrdma.sanitiser.watch.CompletionQueueRecord;
import org.softrdma.sanitiser.watch.Watch;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;

/** A completion channel. Any thread. */
final class SanitisedChannel implements CompletionChannel {
    private final CompletionChannel channel;
    private final Watch watch;
    private final Lifetime lifetime;
    private final Map<CompletionQueue, SanitisedCompletionQueue> queues = new ConcurrentHashMap<>();
    private volatile @Nullable Thread lastTaker;

    SanitisedChannel(CompletionChannel channel, Watch watch, int device) {
        this.channel = channel;
        this.watch = watch;
        lifetime = Lifetime.of(watch.open(), device, "completion channel");
    }

    /** The provider's channel. */
    static CompletionChannel bare(CompletionChannel channel) {
        return channel instanceof SanitisedChannel sanitised ? sanitised.channel : channel;
    }

    /** A queue of this channel was created. */
    void add(CompletionQueue bare, SanitisedCompletionQueue queue) {
        queues.put(bare, queue);
    }

    /** A queue of this channel was closed. */
    void remove(CompletionQueue bare) {
        queues.remove(bare);
    }

    @Override
    public Optional<CompletionQueue> await(long timeoutNs) {
        if (timeoutNs > 0) {
            checkSeen();
            checkArmed();
        }
        Optional<CompletionQueue> event = channel.await(timeoutNs);
        return event.map(this::taken);
    }

    private CompletionQueue taken(CompletionQueue bare) {
        SanitisedCompletionQueue queue = queues.get(bare);
        if (queue == null) {
            return bare;
        }
        queue.record().eventTaken();
        lastTaker = Thread.currentThread();
        return queue;
    }

    private void checkSeen() {
        for (SanitisedCompletionQueue queue : queues.values()) {
            if (queue.record().mayHoldUnseen()) {
                report(
                        Rule.MISSED_WAKE_UP,
                        "a queue of " + queue.entries()
                                + " entries was armed while requests were outstanding, and not polled since");
                return;
            }
        }
    }

    /**
     * Only where nobody else can have been meant to arm: the thread that waits took the last event and did all arming.
     */
    private void checkArmed() {
        Thread current = Thread.currentThread();
        boolean awaited = false;
        for (SanitisedCompletionQueue queue : queues.values()) {
            CompletionQueueRecord record = queue.record();
            if (record.isArmed() || !record.isArmedOnlyBy(current)) {
                return;
            }
            awaited |= record.isAwaited();
        }
        if (awaited && current.equals(lastTaker)) {
            report(Rule.NOT_REARMED, "no queue of the channel is armed, and requests are outstanding");
        }
    }

    private void report(Rule rule, String what) {
        watch.reporter().report(new Finding(rule, what, null, null, null, CallSite.calls()));
    }

    @Override
    public void close() {
        channel.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
