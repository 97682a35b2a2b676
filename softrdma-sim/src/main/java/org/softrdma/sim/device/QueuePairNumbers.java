package org.softrdma.sim.device;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.sim.memory.NumberReuse;

/**
 * Numbers of a device's queue pairs: 24 bits as everywhere in RDMA, never 0, and unique among live queue pairs. Any
 * thread.
 */
final class QueuePairNumbers {
    private static final int MASK = 0xFF_FFFF;

    private final NumberReuse reuse;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Integer> live = new HashSet<>();
    /** To be used again at once, the last one first. */
    private final ArrayDeque<Integer> again = new ArrayDeque<>();

    private int next;

    /**
     * All are free.
     *
     * @param first the first number to hand out
     * @param reuse when a number comes again
     */
    QueuePairNumbers(int first, NumberReuse reuse) {
        next = first;
        this.reuse = reuse;
    }

    /** The next free number. There always is one: no machine has room for as many queue pairs. */
    int take() {
        lock.lock();
        try {
            int number = again.isEmpty() ? 0 : again.removeLast();
            while (number == 0 || !live.add(number)) {
                number = next++ & MASK;
            }
            return number;
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair was destroyed: its number is free again. */
    void giveBack(int number) {
        lock.lock();
        try {
            if (live.remove(number) && reuse == NumberReuse.AT_ONCE) {
                again.addLast(number);
            }
        } finally {
            lock.unlock();
        }
    }
}
