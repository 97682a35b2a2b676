package org.softrdma.sim.device;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Numbers of a device's queue pairs: 24 bits as everywhere in RDMA, never 0, and unique among live queue pairs. Any
 * thread.
 */
final class QueuePairNumbers {
    private static final int MASK = 0xFF_FFFF;

    private final AtomicInteger next;
    private final Set<Integer> live = ConcurrentHashMap.newKeySet();

    /**
     * All are free.
     *
     * @param first the first number to hand out
     */
    QueuePairNumbers(int first) {
        next = new AtomicInteger(first);
    }

    /** The next free number. There always is one: no machine has room for as many queue pairs. */
    int take() {
        int number;
        do {
            number = next.getAndIncrement() & MASK;
        } while (number == 0 || !live.add(number));
        return number;
    }

    /** A queue pair was destroyed: its number is free again. */
    void giveBack(int number) {
        live.remove(number);
    }
}
