package org.softrdma.sim.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Knows when no engine can still touch memory that has just been taken out of the stag table: epoch-based reclamation.
 *
 * <p>Algorithm: each engine has an {@link Epoch}, odd while the engine handles a batch. An engine makes its epoch odd, then
 * issues a full fence, then looks keys up; a deregistration invalidates the row, issues a full fence, then reads the epochs.
 * Either the engine sees the row invalid, or the deregistration sees the epoch odd and waits until it moves (Dekker). An
 * engine keeps no raw address over the end of a batch without asking its {@link Binding} again, a batch is bounded work and
 * waits for nothing but pages that it pins, so the wait is bounded and never depends on a peer. Rejected: a command to every engine per
 * deregistration, which costs two thread hand-overs and a million of them cost half a minute.
 */
public final class Quiescence {
    private final List<Epoch> epochs = new CopyOnWriteArrayList<>();
    /** Epochs that nobody uses now. None ever leaves the other list: who waits knows them by their place in it. */
    private final ConcurrentLinkedQueue<Epoch> spare = new ConcurrentLinkedQueue<>();

    private final Runnable pause;

    /** For engines on threads of their own. */
    public Quiescence() {
        this(Thread::yield);
    }

    /**
     * For engines that run when something lets them.
     *
     * @param pause lets them run, once, while a thread waits for them
     */
    public Quiescence(Runnable pause) {
        this.pause = pause;
    }

    /** The epoch of one more engine, or of another thread that uses registered memory in batches. */
    public Epoch newEpoch() {
        Epoch used = spare.poll();
        if (used != null) {
            return used;
        }
        Epoch epoch = new Epoch();
        epochs.add(epoch);
        return epoch;
    }

    /** An epoch is not used any more, and between two batches. */
    public void giveBack(Epoch epoch) {
        spare.add(epoch);
    }

    /** Returns once every batch that was running when this was called has ended. Any thread but a running engine's. */
    public void await() {
        VarHandle.fullFence();
        for (Epoch epoch : epochs) {
            epoch.awaitEndOfBatch(pause);
        }
    }

    /** Engines that there are. */
    public int engines() {
        return epochs.size();
    }

    /** Makes an empty grace period. */
    public Grace newGrace() {
        return new Grace();
    }

    /**
     * The time until some batches have ended, for a thread that must not wait: it asks later. Not thread-safe, but it may go from
     * one thread to another under a lock.
     */
    public final class Grace {
        /** For each engine the odd value of a batch that has to end, or 0. */
        private long[] running = new long[0];

        private Grace() {}

        /**
         * Waits also for the batches that run now in other threads than this one. What was waited for before stays, also a batch
         * of this thread.
         */
        public void begin() {
            VarHandle.fullFence();
            int engines = epochs.size();
            if (running.length < engines) {
                running = Arrays.copyOf(running, engines);
            }
            for (int i = 0; i < engines; i++) {
                long foreign = epochs.get(i).foreignBatch();
                running[i] = foreign != 0 || epochs.get(i).hasEnded(running[i]) ? foreign : running[i];
            }
        }

        /** True if all of them have ended. */
        public boolean isOver() {
            for (int i = 0; i < running.length; i++) {
                if (!epochs.get(i).hasEnded(running[i])) {
                    return false;
                }
            }
            return true;
        }
    }

    /** One engine's count of batch borders. Written by its engine's thread only. */
    public static final class Epoch {
        private static final VarHandle VALUE;
        private static final int SPINS_BEFORE_PAUSE = 200;

        static {
            try {
                VALUE = MethodHandles.lookup().findVarHandle(Epoch.class, "value", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("FieldMayBeFinal")
        private long value;

        private long batch;
        private int depth;
        /** The thread of the batch that runs, or of the last one; another thread sees it with the odd value, not before. */
        private volatile @Nullable Thread owner;

        Epoch() {}

        /**
         * The batch that runs now; a number never seen before and never again. A batch whose own thread deregisters memory,
         * in a callback, is another one from there on. Engine thread.
         */
        public long current() {
            return batch;
        }

        /** What was granted in the batch that runs now is asked again: a key has become invalid. Engine thread. */
        public void grantAgain() {
            batch++;
        }

        /** Begins a batch, unless one is running. Engine thread. */
        public void enter() {
            if (depth++ == 0) {
                if (owner != Thread.currentThread()) {
                    owner = Thread.currentThread();
                }
                batch++;
                // Release: who sees the odd value sees this owner, not one before it that might be himself.
                VALUE.setRelease(this, value + 1);
                VarHandle.fullFence();
            }
        }

        /** Ends the batch begun by the matching {@link #enter}. Engine thread. */
        public void exit() {
            if (--depth == 0) {
                VALUE.setRelease(this, value + 1);
            }
        }

        /** The odd value of the batch that runs now in another thread, or 0. */
        private long foreignBatch() {
            long seen = (long) VALUE.getAcquire(this);
            return (seen & 1) == 0 || owner == Thread.currentThread() ? 0 : seen;
        }

        private boolean hasEnded(long odd) {
            return odd == 0 || (long) VALUE.getAcquire(this) != odd;
        }

        private void awaitEndOfBatch(Runnable pause) {
            long seen = (long) VALUE.getAcquire(this);
            if ((seen & 1) == 0) {
                return;
            }
            if (owner == Thread.currentThread()) {
                batch++;
                return;
            }
            int spins = 0;
            while ((long) VALUE.getAcquire(this) == seen) {
                if (++spins < SPINS_BEFORE_PAUSE) {
                    Thread.onSpinWait();
                } else {
                    pause.run();
                }
            }
        }
    }
}
