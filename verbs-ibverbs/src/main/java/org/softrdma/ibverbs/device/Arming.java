package org.softrdma.ibverbs.device;

import java.util.Optional;
import org.softrdma.verbs.CompletionQueue;

/**
 * What a completion queue is armed for, and its events that were given out: the part of the queue that its channel
 * knows. Under the channel's lock.
 */
public final class Arming {
    final Optional<CompletionQueue> event;
    final Runnable armForAny;
    boolean armed;
    boolean any;
    boolean raised;
    boolean detached;
    int taken;

    /**
     * Not armed.
     *
     * @param queue what an event gives
     * @param armForAny arms the native queue for any completion
     */
    Arming(CompletionQueue queue, Runnable armForAny) {
        event = Optional.of(queue);
        this.armForAny = armForAny;
    }
}
