package org.softrdma.fabric.adversary;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.sim.queue.CompletionSource;
import org.softrdma.sim.queue.Progress;
import org.softrdma.sim.queue.SoftCompletionChannel;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;

/** A completion queue that promises what verbs promise and no more. */
final class AdversaryCompletionQueue extends SoftCompletionQueue {
    /** Times of a thousand that arming raises an event. */
    private static final int SPURIOUS = 200;

    private final @Nullable SoftCompletionChannel channel;
    private final Lawful lawful;

    /**
     * What the queues of a fabric share.
     *
     * @param scheduler chooses
     * @param habits which
     * @param held completions that are not visible yet
     */
    record Lawful(Scheduler scheduler, Set<Habit> habits, HeldCompletions held) {
        boolean has(Habit habit) {
            return habits.contains(habit);
        }
    }

    AdversaryCompletionQueue(
            int minimumEntries,
            Progress progress,
            @Nullable SoftCompletionChannel channel,
            Runnable onClose,
            Lawful lawful) {
        super(minimumEntries, progress, channel, onClose);
        this.channel = channel;
        this.lawful = lawful;
    }

    @Override
    public void push(
            CompletionSource source,
            long wrId,
            CompletionStatus status,
            CompletionOpcode opcode,
            long byteLength,
            int vendorCode,
            long sequence,
            boolean solicited) {
        boolean anyCode = lawful.has(Habit.VENDOR_CODES) && status != CompletionStatus.SUCCESS;
        int code = anyCode ? lawful.scheduler().choices().generator().nextInt() : vendorCode;
        Runnable show = () -> super.push(source, wrId, status, opcode, byteLength, code, sequence, solicited);
        if (lawful.has(Habit.QUEUES_IN_ANY_ORDER)) {
            lawful.held().show(new HeldCompletions.Origin(this, source, opcode.isReceive()), show);
        } else {
            show.run();
        }
    }

    @Override
    public void detach(CompletionSource source) {
        lawful.held().forget(this, source);
        super.detach(source);
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        super.requestNotification(solicitedOnly);
        if (lawful.has(Habit.SPURIOUS_EVENTS) && lawful.scheduler().choices().chance(SPURIOUS)) {
            lawful.scheduler().note("an event without a cause", 0);
            raiseSpuriously();
        }
    }

    @Override
    protected void raiseEvent() {
        boolean merged = lawful.has(Habit.MERGED_EVENTS) && channel != null && channel.isRaised(this);
        if (!merged) {
            super.raiseEvent();
        }
    }
}
