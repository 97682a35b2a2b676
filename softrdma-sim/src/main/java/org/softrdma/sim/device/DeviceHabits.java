package org.softrdma.sim.device;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.NumberReuse;
import org.softrdma.sim.queue.Progress;
import org.softrdma.sim.queue.SoftCompletionChannel;
import org.softrdma.sim.queue.SoftCompletionQueue;

/**
 * What a device does where verbs leave a choice. Immutable.
 *
 * @param reuse how soon a number of a queue pair or a key comes again
 * @param completionQueues makes its completion queues
 */
public record DeviceHabits(NumberReuse reuse, CompletionQueues completionQueues) {
    /** Those of a device outside of simulations. */
    public static final DeviceHabits USUAL = new DeviceHabits(NumberReuse.LATE, SoftCompletionQueue::new);

    /** Makes completion queues. */
    @FunctionalInterface
    public interface CompletionQueues {
        /**
         * A new one.
         *
         * @param minimumEntries minimum number of entries
         * @param progress how polling drives the device
         * @param channel where events go, or null
         * @param onClose called once on close
         */
        SoftCompletionQueue create(
                int minimumEntries, Progress progress, @Nullable SoftCompletionChannel channel, Runnable onClose);
    }
}
