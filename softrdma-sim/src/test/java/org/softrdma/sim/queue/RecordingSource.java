package org.softrdma.sim.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/** A queue pair that remembers what its completion queues tell it. */
public final class RecordingSource implements CompletionSource {
    private final int number;
    private final List<Long> released = new ArrayList<>();
    private int overruns;
    private Runnable whenOverrun = () -> {};
    private LongConsumer sendQueue = sequence -> {};
    private LongConsumer receiveQueue = sequence -> {};

    /** One with a number. */
    public RecordingSource(int number) {
        this.number = number;
    }

    /** From now on released slots go to a send queue too. */
    public void sendQueue(LongConsumer free) {
        sendQueue = free;
    }

    /** From now on released slots go to a receive queue too. */
    public void receiveQueue(LongConsumer free) {
        receiveQueue = free;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public void releaseSendSlots(long sequence) {
        released.add(sequence);
        sendQueue.accept(sequence);
    }

    @Override
    public void releaseReceiveSlots(long sequence) {
        receiveQueue.accept(sequence);
    }

    @Override
    public void completionQueueOverrun() {
        overruns++;
        whenOverrun.run();
    }

    /** Sequences that were released, in order. */
    List<Long> released() {
        return List.copyOf(released);
    }

    /** Done when it is told of an overrun. */
    void whenOverrun(Runnable action) {
        whenOverrun = action;
    }

    /** How often it was told of an overrun. */
    int overruns() {
        return overruns;
    }
}
