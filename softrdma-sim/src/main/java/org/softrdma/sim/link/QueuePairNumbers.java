package org.softrdma.sim.link;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.agrona.collections.Int2IntHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.NumberReuse;

/**
 * Numbers of a device's queue pairs: 24 bits as everywhere in RDMA, never 0, and unique among those in use. A number is in
 * use while its queue pair lives, and while the wire knows peers that may still send to it. Any thread.
 */
public final class QueuePairNumbers {
    private static final int MASK = 0xFF_FFFF;

    private final NumberReuse reuse;
    private final ReentrantLock lock = new ReentrantLock();
    private static final int FREE = 0;

    /** How many use each number: its queue pair, its wire, or both. Giving one back needs no memory. */
    private Int2IntHashMap users = new Int2IntHashMap(FREE);
    /** To be used again at once, the last one first. */
    private final ArrayDeque<Integer> again = new ArrayDeque<>();

    private int next;
    private @Nullable RandomGenerator random;
    private int leastDrawn;
    private int drawnBelow;

    /**
     * All are free.
     *
     * @param first the first number to hand out
     * @param reuse when a number comes again
     */
    public QueuePairNumbers(int first, NumberReuse reuse) {
        next = first;
        this.reuse = reuse;
    }

    /**
     * From now on peers cannot guess the numbers. Before the first one is taken.
     *
     * @param source where they are drawn from
     * @param least the least of them
     * @param below all are less than this. Half of them are drawn at most: if more were in use, it would take long to find
     *     a free one
     */
    public void drawFrom(RandomGenerator source, int least, int below) {
        random = source;
        leastDrawn = least;
        drawnBelow = below;
    }

    /**
     * A free number.
     *
     * @throws IllegalStateException if there is none; only numbers that are drawn can run out, since no machine has room for
     *     as many queue pairs
     */
    public int take() {
        lock.lock();
        try {
            if (random != null && users.size() >= (drawnBelow - leastDrawn) / 2) {
                throw new IllegalStateException(users.size() + " numbers of queue pairs are in use: no more are drawn");
            }
            makeRoom();
            int number = again.isEmpty() ? 0 : again.removeLast();
            while (number == 0 || users.get(number) != FREE) {
                number = random == null ? next++ & MASK : random.nextInt(leastDrawn, drawnBelow);
            }
            users.put(number, 1);
            return number;
        } finally {
            lock.unlock();
        }
    }

    /** A number in use has one more user. */
    public void keep(int number) {
        lock.lock();
        try {
            makeRoom();
            users.put(number, users.get(number) + 1);
        } finally {
            lock.unlock();
        }
    }

    /** A map that finds no memory to grow is broken for good: its next entries find no place. So another one is made. */
    private void makeRoom() {
        if (users.size() >= users.resizeThreshold()) {
            Int2IntHashMap more = new Int2IntHashMap(2 * users.capacity(), users.loadFactor(), FREE);
            users.forEachInt(more::put);
            users = more;
        }
    }

    /** A number has one user less: it is free after its last one. */
    public void giveBack(int number) {
        lock.lock();
        try {
            int count = users.get(number);
            if (count > 1) {
                users.put(number, count - 1);
            } else if (count == 1) {
                users.remove(number);
                useAgain(number);
            }
        } finally {
            lock.unlock();
        }
    }

    private void useAgain(int number) {
        if (reuse == NumberReuse.AT_ONCE) {
            try {
                again.addLast(number);
            } catch (OutOfMemoryError e) {
                // It is free all the same.
            }
        }
    }
}
