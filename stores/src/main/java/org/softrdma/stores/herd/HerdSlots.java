package org.softrdma.stores.herd;

import java.util.Arrays;
import org.softrdma.stores.herd.transport.HerdChannel;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * The slots as their client knows them: whose request is in each, its number, and how many of its WRITEs may bring an
 * answer still. Where nothing is lost, a slot is in use until all of these have come, even if nobody waits for them:
 * else there might be more answers than RECVs. Owned by the client's thread.
 */
final class HerdSlots {
    /** Nobody's. */
    static final int NOBODY = -1;

    private final HerdShape shape;
    private final int most;
    private final boolean counting;
    private final int[] operations;
    private final int[] numbers;
    private final int[] attempts;
    private final int[] unanswered;
    private final long[] againNs;
    private final int[] nextByWorker;
    private int used;

    /**
     * Slots that nobody uses.
     *
     * @param shape as the server tells it
     * @param most that may be in use
     * @param counting true if every WRITE brings an answer that tells its attempt
     */
    HerdSlots(HerdShape shape, int most, boolean counting) {
        this.shape = shape;
        this.most = most;
        this.counting = counting;
        operations = new int[shape.slots()];
        numbers = new int[shape.slots()];
        attempts = new int[shape.slots()];
        unanswered = new int[shape.slots()];
        againNs = new long[shape.slots()];
        nextByWorker = new int[shape.workers()];
        Arrays.setAll(nextByWorker, shape::firstSlot);
        Arrays.fill(operations, NOBODY);
    }

    HerdShape shape() {
        return shape;
    }

    private boolean isUsed(int slot) {
        return operations[slot] != NOBODY || unanswered[slot] > 0;
    }

    /**
     * A free slot of a worker, or {@link #NOBODY}: the first behind the one used last, as the worker looks at them one after
     * the other.
     */
    int free(int worker, HerdChannel channel) {
        if (used == most) {
            return NOBODY;
        }
        int slot = nextByWorker[worker];
        for (int i = 0; i < shape.window(); i++) {
            if (!isUsed(slot) && channel.isFree(slot)) {
                return slot;
            }
            slot = shape.next(slot);
        }
        return NOBODY;
    }

    /** A free slot takes the next request, which is an operation's. */
    void begin(int slot, HerdOperation operation) {
        used++;
        nextByWorker[shape.workerOf(slot)] = shape.next(slot);
        operations[slot] = operation.index();
        numbers[slot] = numbers[slot] == -1 ? 1 : numbers[slot] + 1; // never 0
        attempts[slot] = 0;
        operation.slot = slot;
        operation.number = numbers[slot];
    }

    /** The request of a slot is about to be written. */
    void writes(HerdOperation operation, long nextNs) {
        int slot = operation.slot;
        attempts[slot]++;
        unanswered[slot]++;
        againNs[slot] = nextNs;
        operation.attempt = attempts[slot];
    }

    int attempts(int slot) {
        return attempts[slot];
    }

    int unanswered(int slot) {
        return unanswered[slot];
    }

    /** When the request of a slot is to be written again. */
    long againNs(int slot) {
        return againNs[slot];
    }

    void againAt(int slot, long ns) {
        againNs[slot] = ns;
    }

    /**
     * An answer has come.
     *
     * @return whose it is, or {@link #NOBODY}
     */
    int answered(int slot, int number, int attempt) {
        if ((number != numbers[slot] && number != 0) || !isUsed(slot)) {
            return NOBODY;
        }
        int operation = operations[slot];
        operations[slot] = NOBODY;
        unanswered[slot] = counting ? Math.min(unanswered[slot], attempts[slot] - attempt) : 0;
        release(slot);
        return operation;
    }

    /** True if there was such an attempt: else the server is wrong. */
    boolean isAttempt(int slot, int number, int attempt) {
        return number != numbers[slot] || (attempt >= 0 && attempt <= attempts[slot]);
    }

    /** Nobody waits for the answer any more. */
    void abandon(int slot) {
        operations[slot] = NOBODY;
        if (!counting) {
            unanswered[slot] = 0;
        }
        release(slot);
    }

    private void release(int slot) {
        if (!isUsed(slot)) {
            used--;
        }
    }

    /** The channel is gone: no answer comes any more. Requests that somebody waits for keep their slots. */
    void disconnected() {
        used = 0;
        for (int slot = 0; slot < operations.length; slot++) {
            unanswered[slot] = 0;
            attempts[slot] = 0;
            used += operations[slot] == NOBODY ? 0 : 1;
        }
    }
}
