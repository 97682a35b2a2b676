package org.softrdma.ibverbs;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs of a device, or its shared receive queues, by the number that their native {@code wr_id}s carry. A
 * number is a slot and a generation, so a completion of a destroyed queue pair finds nothing, even if its slot is in use
 * again.
 *
 * <pre>
 *   wr_id:  63          50 49                26 25  24  23                 0
 *          +--------------+--------------------+---+---+--------------------+
 *          |  generation  |  slot              | S | R |  sequence, low bits |
 *          +--------------+--------------------+---+---+--------------------+
 *   R: 1 for a RECV. S: 1 if it was posted to a shared receive queue; slot and generation are then those of the queue,
 *   and in place of the sequence is the RECV's place in it. This provider writes and reads it, the device carries it.
 * </pre>
 *
 * <p>Thread-safe; look-ups take no lock.
 *
 * @param <Q> the queue pairs, or the shared receive queues
 */
public final class QueuePairTable<Q> {
    private static final int SLOT_SHIFT = WorkRing.SEQUENCE_BITS + 2;
    private static final int SLOT_BITS = 24;
    private static final int GENERATION_SHIFT = SLOT_SHIFT + SLOT_BITS;
    private static final long SLOT_MASK = (1L << SLOT_BITS) - 1;
    private static final long GENERATIONS = 1L << (Long.SIZE - GENERATION_SHIFT);
    private static final long RECEIVE = 1L << WorkRing.SEQUENCE_BITS;
    private static final long SHARED = RECEIVE << 1;
    private static final long NUMBER_MASK = -1L << SLOT_SHIFT;
    private static final int FIRST_SLOTS = 16;

    private final ReentrantLock lock = new ReentrantLock();
    /** Oldest first, so that a slot is reused as late as possible. */
    private final ArrayDeque<Integer> free = new ArrayDeque<>();

    private long[] generations = new long[0];
    private volatile AtomicReferenceArray<@Nullable Entry<Q>> slots = new AtomicReferenceArray<>(0);

    private record Entry<Q>(long number, Q queuePair) {}

    /** Takes a number for a queue pair that is about to be created. */
    public long take() {
        lock.lock();
        try {
            if (free.isEmpty()) {
                grow();
            }
            int slot = free.removeFirst();
            generations[slot] = (generations[slot] + 1) % GENERATIONS;
            return (generations[slot] << GENERATION_SHIFT) | ((long) slot << SLOT_SHIFT);
        } finally {
            lock.unlock();
        }
    }

    private void grow() {
        int from = slots.length();
        int to = Math.max(FIRST_SLOTS, 2 * from);
        if (to > SLOT_MASK) {
            throw new IllegalStateException(from + " queue pairs on one device: expected fewer");
        }
        generations = Arrays.copyOf(generations, to);
        AtomicReferenceArray<@Nullable Entry<Q>> grown = new AtomicReferenceArray<>(to);
        for (int slot = 0; slot < from; slot++) {
            grown.setPlain(slot, slots.get(slot));
        }
        slots = grown;
        for (int slot = from; slot < to; slot++) {
            free.addLast(slot);
        }
    }

    /** From now on completions with this number belong to this queue pair. */
    public void set(long number, Q queuePair) {
        lock.lock();
        try {
            slots.set(slot(number), new Entry<>(number, queuePair));
        } finally {
            lock.unlock();
        }
    }

    /** Returns a number. */
    public void giveBack(long number) {
        lock.lock();
        try {
            slots.set(slot(number), null);
            free.addLast(slot(number));
        } finally {
            lock.unlock();
        }
    }

    /**
     * What a completion belongs to.
     *
     * @param wrId native number
     * @return null if it is gone
     */
    public @Nullable Q find(long wrId) {
        AtomicReferenceArray<@Nullable Entry<Q>> current = slots;
        int slot = slot(wrId);
        Entry<Q> entry = slot < current.length() ? current.get(slot) : null;
        return entry != null && entry.number == (wrId & NUMBER_MASK) ? entry.queuePair : null;
    }

    /** The native number of a send work request. */
    public static long sendId(long number, long sequence) {
        return number | (sequence & WorkRing.SEQUENCE_MASK);
    }

    /** The native number of a RECV. */
    public static long receiveId(long number, long sequence) {
        return number | RECEIVE | (sequence & WorkRing.SEQUENCE_MASK);
    }

    /** The native number of a RECV of a shared receive queue. */
    public static long sharedId(long number, int place) {
        return number | SHARED | RECEIVE | (place & WorkRing.SEQUENCE_MASK);
    }

    /** True if a native number is that of a RECV of a shared receive queue. */
    public static boolean isShared(long wrId) {
        return (wrId & SHARED) != 0;
    }

    /** True if a native number is that of a RECV. */
    public static boolean isReceive(long wrId) {
        return (wrId & RECEIVE) != 0;
    }

    private static int slot(long number) {
        return (int) ((number >>> SLOT_SHIFT) & SLOT_MASK);
    }
}
