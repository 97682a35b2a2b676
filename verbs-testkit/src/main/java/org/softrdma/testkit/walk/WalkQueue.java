package org.softrdma.testkit.walk;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;

/** A completion queue, its channel if it has one, and the queue pairs that use it. The walk's thread. */
final class WalkQueue {
    /** Most requests of a queue pair or shared queue, before the device makes it larger. */
    static final int MOST_REQUESTS = 24;

    private final CompletionQueue queue;
    private final @Nullable CompletionChannel channel;
    private final Map<Integer, WalkEnd> ends = new LinkedHashMap<>();
    private int promised;

    WalkQueue(CompletionQueue queue, @Nullable CompletionChannel channel) {
        this.queue = queue;
        this.channel = channel;
    }

    CompletionQueue verbs() {
        return queue;
    }

    @Nullable
    CompletionChannel channel() {
        return channel;
    }

    boolean isBusy() {
        return !ends.isEmpty();
    }

    @Nullable
    WalkEnd end(int number) {
        return ends.get(number);
    }

    Iterable<WalkEnd> ends() {
        return ends.values();
    }

    /** True if so many more completions always have room. */
    boolean hasRoom(int completions) {
        return promised + completions <= queue.entries();
    }

    /** Most completions that may be in it. */
    int promised() {
        return promised;
    }

    void attach(WalkEnd end, int completions) {
        ends.put(end.verbs().number(), end);
        promised += completions;
    }

    void detach(WalkEnd end, int completions) {
        ends.remove(end.verbs().number());
        promised -= completions;
    }

    void close() {
        queue.close();
        if (channel != null) {
            channel.close();
        }
    }
}
