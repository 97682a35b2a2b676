package org.softrdma.sim.device;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Numbers of the queue pairs of a device: 24 bits as everywhere in RDMA, never 0, and of two live ones never the same. Any thread. */
final class QueuePairNumbers {
    private static final int MASK = 0xFF_FFFF;

    private final AtomicInteger next;
    private final Set<Integer> live = ConcurrentHashMap.newKeySet();

    /**
     * All are free.
     *
     * @param first the number to begin with
     */
    QueuePairNumbers(int first) {
        next = new AtomicInteger(first);
    }

    /** The next number that is free; there are far more than queue pairs that fit into a machine. */
    int take() {
        int number;
        do {
            number = next.getAndIncrement() & MASK;
        } while (number == 0 || !live.add(number));
        return number;
    }

    /** A queue pair is gone. */
    void giveBack(int number) {
        live.remove(number);
    }
}
