package org.softrdma.bench.measurement;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Completion queues with the ways to wait on them: by spinning, or asleep - on a channel where the device has threads of its
 * own, in {@link VerbsDevice#progress} where the caller drives it. A spinning wait looks at the queue added last, and only
 * now and then at the others: data first, control when there is time. Belongs to the thread that made it.
 */
public final class Completions implements AutoCloseable {
    private static final int SPINS_PER_LOOK_AROUND = 64;
    private static final boolean ONE_CORE = Runtime.getRuntime().availableProcessors() == 1;
    private static final long LONGEST_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final VerbsDevice device;
    private final @Nullable CompletionChannel channel;
    private final List<CompletionQueue> queues = new ArrayList<>();
    private int looks;

    /**
     * Without queues yet.
     *
     * @param device their device
     */
    public Completions(VerbsDevice device) {
        this.device = device;
        channel = device.manualProgress() ? null : device.createCompletionChannel();
    }

    /**
     * Creates a queue and looks at it first from now on.
     *
     * @param entries completions it must hold
     */
    public CompletionQueue add(int entries) {
        CompletionQueue queue = channel == null
                ? device.createCompletionQueue(entries)
                : device.createCompletionQueue(entries, channel, 0);
        queues.add(0, queue);
        return queue;
    }

    /**
     * Looks for completions once, without waiting.
     *
     * @param into filled from index 0
     * @return how many there were
     */
    public int look(WorkCompletion[] into) {
        int count = ++looks % SPINS_PER_LOOK_AROUND == 0
                ? pollAll(into)
                : queues.get(0).poll(into);
        if (count == 0 && channel != null) {
            Thread.onSpinWait();
        }
        return count;
    }

    /**
     * Waits for completions of one of the queues.
     *
     * @param into filled from index 0
     * @param spin true to poll without rest
     * @param timeoutNs how long to wait
     * @return how many there were, 0 at the end of the time
     */
    public int await(WorkCompletion[] into, boolean spin, long timeoutNs) {
        int count = queues.get(0).poll(into);
        if (count > 0) {
            return count;
        }
        return spin ? spin(into, timeoutNs) : sleep(into, timeoutNs);
    }

    private int spin(WorkCompletion[] into, long timeoutNs) {
        CompletionQueue first = queues.get(0);
        long deadlineNs = System.nanoTime() + timeoutNs;
        for (int spins = 1; ; spins++) {
            int count = spins % SPINS_PER_LOOK_AROUND == 0 ? pollAll(into) : first.poll(into);
            if (count > 0) {
                return count;
            }
            if (channel != null) {
                pause();
            }
            if (spins % SPINS_PER_LOOK_AROUND == 0 && System.nanoTime() - deadlineNs >= 0) {
                return 0;
            }
        }
    }

    /** Where a process has one core, the device's threads need it: who spins there waits for nobody but itself. */
    private static void pause() {
        if (ONE_CORE) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    private int sleep(WorkCompletion[] into, long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        long leftNs = timeoutNs;
        while (leftNs > 0) {
            int count = pollAll(into);
            if (count > 0) {
                return count;
            }
            if (channel == null) {
                device.progress(Math.min(leftNs, LONGEST_SLEEP_NS));
            } else {
                queues.forEach(queue -> queue.requestNotification(false));
                count = pollAll(into);
                if (count > 0) {
                    return count;
                }
                channel.await(leftNs).ifPresent(notified -> notified.acknowledgeEvents(1));
            }
            leftNs = deadlineNs - System.nanoTime();
        }
        return pollAll(into);
    }

    private int pollAll(WorkCompletion[] into) {
        for (int i = 0; i < queues.size(); i++) {
            int count = queues.get(i).poll(into);
            if (count > 0) {
                return count;
            }
        }
        return 0;
    }

    @Override
    public void close() {
        if (channel != null) {
            // A queue that was armed may have raised an event that nobody took.
            for (int i = 0; i < queues.size(); i++) {
                channel.await(0).ifPresent(notified -> notified.acknowledgeEvents(1));
            }
        }
        queues.forEach(CompletionQueue::close);
        if (channel != null) {
            channel.close();
        }
    }
}
