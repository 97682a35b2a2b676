package org.softrdma.sim.link;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.samehost.SharedMemoryReads;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * The requests of a send queue that send nothing: memory windows, and READs from memory that the peer shares. A wire has
 * them executed when they are at the cursor, and carries the rest. Engine thread only.
 */
public final class LocalRequests {
    private final SendQueue sends;
    private final WindowRequests windows;
    private final @Nullable SharedMemoryReads shared;
    private boolean abandoned;
    private boolean left;
    private long count;

    /**
     * Of a queue pair.
     *
     * @param engine of the queue pair
     * @param sends its requests
     * @param windows bound on it
     * @param shared READs from memory that the peer shares, or null
     */
    public LocalRequests(
            RnicEngine engine, SendQueue sends, StreamWindows windows, @Nullable SharedMemoryReads shared) {
        this.sends = sends;
        this.windows = new WindowRequests(engine, sends, windows);
        this.shared = shared;
    }

    /** The requests of memory windows. */
    public WindowRequests windows() {
        return windows;
    }

    /** A turn of the connection begins. */
    public void beginTurn() {
        if (shared != null) {
            shared.beginTurn();
        }
    }

    /**
     * Executes those at the cursor, until one is the wire's or has to wait; or until the turn has read 1 MiB or more:
     * the next turn goes on with the rest ({@link #isLeft}). They wait for no peer. What was granted before may not be
     * any more afterwards.
     *
     * @param mayRead the wire may send requests, so a READ may be done
     * @param answersAwaited requests of the queue wait for an answer of the peer
     * @return sequence of a request that cannot be executed, or -1
     */
    public long run(boolean mayRead, boolean answersAwaited) {
        left = false;
        while (!abandoned && sends.hasUnsent()) {
            long sequence = sends.cursor();
            int slot = sends.slot(sequence);
            SendOpcode opcode = sends.opcode(slot);
            if (opcode == SendOpcode.READ && shared != null && mayRead && shared.isNext(answersAwaited)) {
                if (shared.isTurnOver()) {
                    left = true;
                    return -1;
                }
                if (!shared.read(slot)) {
                    return -1;
                }
            } else if (!WindowRequests.isOne(opcode) || isFenced(slot, answersAwaited)) {
                return -1;
            } else if (!windows.execute(slot)) {
                return sequence;
            }
            count++;
            sends.cursor(sequence + 1);
            sends.complete(sequence);
        }
        return -1;
    }

    private boolean isFenced(int slot, boolean answersAwaited) {
        return answersAwaited && sends.hasFlag(slot, SendFlags.FENCE);
    }

    /**
     * True if the request at the cursor is a READ that the wire must not send, because it is done here in its turn.
     *
     * @param slot of the request
     * @param answersAwaited requests of the queue wait for an answer of the peer
     */
    public boolean holds(int slot, boolean answersAwaited) {
        return shared != null && sends.opcode(slot) == SendOpcode.READ && shared.holds(slot, answersAwaited);
    }

    /** True if {@link #run} has left something for the next turn, for which nothing of the wire need be ready. */
    public boolean isLeft() {
        return left;
    }

    /** Number of requests completed without sending; all precede the next one on the wire. */
    public long count() {
        return count;
    }

    /** The requests of the send queue are abandoned: nothing more is executed. */
    public void abandon() {
        abandoned = true;
        left = false;
    }

    /** How such a request fails. */
    public static CompletionStatus failure(SendOpcode opcode) {
        return opcode == SendOpcode.BIND_WINDOW
                ? CompletionStatus.MEMORY_WINDOW_BIND_ERROR
                : CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    }
}
