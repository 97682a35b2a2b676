package org.softrdma.fabric.adversary;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.sim.device.DeviceHabits;
import org.softrdma.sim.memory.NumberReuse;
import org.softrdma.sim.queue.Progress;
import org.softrdma.sim.queue.SoftCompletionChannel;
import org.softrdma.sim.queue.SoftCompletionQueue;

/** Gives the devices of a fabric their habits. */
public final class DeviceAdversary {
    private static final Set<Habit> OF_COMPLETION_QUEUES =
            Set.of(Habit.VENDOR_CODES, Habit.MERGED_EVENTS, Habit.SPURIOUS_EVENTS, Habit.QUEUES_IN_ANY_ORDER);

    private final Scheduler scheduler;
    private final Set<Habit> habits;
    private final HeldCompletions held;

    /**
     * Of a fabric.
     *
     * @param scheduler of the simulation, which it joins
     * @param habits which
     */
    public DeviceAdversary(Scheduler scheduler, Set<Habit> habits) {
        this.scheduler = scheduler;
        this.habits = Set.copyOf(habits);
        held = new HeldCompletions(scheduler);
        scheduler.add(held);
    }

    /** For a device. */
    public DeviceHabits ofDevice() {
        NumberReuse reuse = habits.contains(Habit.NUMBERS_AGAIN) ? NumberReuse.AT_ONCE : NumberReuse.LATE;
        boolean queues = habits.stream().anyMatch(OF_COMPLETION_QUEUES::contains);
        return new DeviceHabits(reuse, queues ? this::completionQueue : DeviceHabits.USUAL.completionQueues());
    }

    private SoftCompletionQueue completionQueue(
            int minimumEntries, Progress progress, @Nullable SoftCompletionChannel channel, Runnable onClose) {
        return new AdversaryCompletionQueue(
                minimumEntries,
                progress,
                channel,
                onClose,
                new AdversaryCompletionQueue.Lawful(scheduler, habits, held));
    }
}
