package org.softrdma.ibverbs.device;

import java.util.Optional;
import org.softrdma.verbs.CompletionQueue;

/**
 * What a completion queue is armed for, and how many of its events were handed out: the part of the queue that its
 * channel sees. Under the channel's lock.
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
     * @param queue the queue that an event names
     * @param armForAny arms the native queue for any completion
     */
    Arming(CompletionQueue queue, Runnable armForAny) {
        event = Optional.of(queue);
        this.armForAny = armForAny;
    }
}
