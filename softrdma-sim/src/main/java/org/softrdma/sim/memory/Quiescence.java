package org.softrdma.sim.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Knows when no engine can still touch memory that has just been taken out of the stag table: epoch-based reclamation.
 *
 * <p>Algorithm: each engine has an {@link Epoch}, odd while the engine handles a batch. An engine makes its epoch odd, then
 * issues a full fence, then looks keys up; a deregistration invalidates the row, issues a full fence, then reads the epochs.
 * Either the engine sees the row invalid, or the deregistration sees the epoch odd and waits until it moves (Dekker). An
 * engine keeps no raw address over the end of a batch without asking its {@link Binding} again, a batch is bounded work and
 * contains no blocking call, so the wait is bounded and never depends on a peer. Rejected: a command to every engine per
 * deregistration, which costs two thread hand-overs and a million of them cost half a minute.
 */
public final class Quiescence {
    private final List<Epoch> epochs = new CopyOnWriteArrayList<>();

    /** Makes the epoch of one more engine. */
    public Epoch newEpoch() {
        Epoch epoch = new Epoch();
        epochs.add(epoch);
        return epoch;
    }

    /** Returns once every batch that was running when this was called has ended. Any thread but a running engine's. */
    public void await() {
        VarHandle.fullFence();
        for (Epoch epoch : epochs) {
            epoch.awaitEndOfBatch();
        }
    }

    /** One engine's count of batch borders. Written by its engine's thread only. */
    public static final class Epoch {
        private static final VarHandle VALUE;
        private static final int SPINS_BEFORE_YIELD = 200;

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

        private void awaitEndOfBatch() {
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
                if (++spins < SPINS_BEFORE_YIELD) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
        }
    }
}
