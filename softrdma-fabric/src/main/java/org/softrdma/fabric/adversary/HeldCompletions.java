package org.softrdma.fabric.adversary;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.Source;
import org.softrdma.sim.queue.CompletionSource;
import org.softrdma.sim.queue.SoftCompletionQueue;

/**
 * Completions that are not visible yet. Those of one send queue, and those of one receive queue, keep their order.
 */
final class HeldCompletions implements Source {
    /** Times of a thousand that a completion is held that need not be. */
    private static final int SHARE = 300;

    private static final long MOST_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private final Scheduler scheduler;
    private final List<Held> held = new ArrayList<>();

    /**
     * The queue that completions of one order come from.
     *
     * @param completions where they go
     * @param source the queue pair
     * @param receives its receive queue, not its send queue
     */
    record Origin(SoftCompletionQueue completions, CompletionSource source, boolean receives) {}

    private record Held(Origin origin, long dueNs, Runnable show) {}

    HeldCompletions(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Shows a completion, now or later. */
    void show(Origin origin, Runnable show) {
        long behindNs = Long.MIN_VALUE;
        for (Held each : held) {
            if (each.origin.equals(origin)) {
                behindNs = Math.max(behindNs, each.dueNs);
            }
        }
        boolean late = scheduler.choices().chance(SHARE);
        if (!late && behindNs == Long.MIN_VALUE) {
            show.run();
            return;
        }
        long dueNs = scheduler.nanoTime() + (late ? scheduler.choices().between(1, MOST_NS) : 0);
        held.add(new Held(origin, Math.max(dueNs, behindNs + 1), show));
    }

    /** A queue pair is gone: its completions go too. */
    void forget(SoftCompletionQueue completions, CompletionSource source) {
        held.removeIf(each -> each.origin.completions() == completions && each.origin.source() == source);
    }

    @Override
    public long nextNs() {
        long next = NEVER;
        for (Held each : held) {
            next = Math.min(next, each.dueNs);
        }
        return next;
    }

    @Override
    public void step() {
        long nextNs = nextNs();
        for (Held each : held) {
            if (each.dueNs == nextNs) {
                held.remove(each);
                scheduler.note("a completion is seen late", 0);
                each.show.run();
                return;
            }
        }
    }
}
