package org.softrdma.sanitiser.watch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.verbs.WorkCompletion;

/** The queue pairs of a device by their numbers: completions name them so. Thread-safe. */
public final class WatchedQueuePairs {
    private final ConcurrentHashMap<Integer, QueuePairWatch> byNumber = new ConcurrentHashMap<>();

    /** Without queue pairs. */
    public WatchedQueuePairs() {}

    /**
     * A queue pair was created.
     *
     * @param queuePair what watches it
     */
    public void opened(int number, QueuePairWatch queuePair) {
        byNumber.put(number, queuePair);
    }

    /**
     * A queue pair is about to be closed, so that its number can be given to another one.
     *
     * @param queuePair what watches it
     */
    public void closing(int number, QueuePairWatch queuePair) {
        byNumber.remove(number, queuePair);
    }

    /**
     * Completions were polled. They must come in the order in which they were in the queue.
     *
     * @param from the queue
     * @param completions what was polled
     * @param count how many
     * @return what was found
     */
    public List<Finding> polled(CompletionQueueRecord from, WorkCompletion[] completions, int count) {
        List<Finding> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            QueuePairWatch queuePair = byNumber.get(completions[i].qpNumber());
            if (queuePair != null) {
                queuePair.completed(completions[i], from, found);
            }
        }
        return found;
    }

    /**
     * Completions were lost.
     *
     * @param queue the queue that was full
     */
    public void lost(CompletionQueueRecord queue) {
        byNumber.values().stream().filter(watch -> watch.completesInto(queue)).forEach(QueuePairWatch::forget);
    }
}
