package org.softrdma.kv.client;

import org.jspecify.annotations.Nullable;

/**
 * The slots of a reader: those of the window, for whoever comes first, and one more that is kept for owners, so that
 * a command never waits for READs that nobody has fetched. Results of READs wait here in the order in which they
 * came. Allocates nothing after construction. Owned by the thread of its reader.
 */
final class SlotPool {
    private final int window;
    private final ReadSlot[] slots;
    private final int[] free;
    private int freeCount;
    private boolean lastTaken;
    private final int[] ready;
    private int readyHead;
    private int readyCount;
    private int started;

    SlotPool(int window) {
        this.window = window;
        slots = new ReadSlot[window + 1];
        for (int i = 0; i <= window; i++) {
            slots[i] = new ReadSlot(i);
        }
        free = new int[window];
        ready = new int[window];
        for (int i = 0; i < window; i++) {
            free[freeCount++] = window - 1 - i;
        }
    }

    /** All slots, by number. */
    ReadSlot[] all() {
        return slots;
    }

    ReadSlot get(int number) {
        return slots[number];
    }

    /** The slot that {@link #begin} would take, or null. */
    @Nullable
    ReadSlot nextFree() {
        return freeCount == 0 ? null : slots[free[freeCount - 1]];
    }

    /** How many times {@link #begin} would find one. */
    int freeCount() {
        return freeCount;
    }

    /** Takes {@link #nextFree} for a READ of {@link KvClient#start}. */
    void begin() {
        freeCount--;
        started++;
    }

    /** Its result is there. */
    void ready(ReadSlot slot) {
        ready[wrapped(readyHead + readyCount)] = slot.number;
        readyCount++;
    }

    /** A place less than two rounds from the first: a remainder would take longer than all else here. */
    private int wrapped(int place) {
        return place < window ? place : place - window;
    }

    /** Results that nobody has taken. */
    int readyCount() {
        return readyCount;
    }

    /** Takes the oldest result; its slot stays in use until {@link #free}. */
    ReadSlot takeReady() {
        int slot = ready[readyHead];
        readyHead = wrapped(readyHead + 1);
        readyCount--;
        started--;
        return slots[slot];
    }

    /** The result was delivered. */
    void free(ReadSlot slot) {
        free[freeCount++] = slot.number;
    }

    /** READs of {@link KvClient#start} on their way or ready. */
    int started() {
        return started;
    }

    /** Takes a slot for an owner, or null. */
    @Nullable
    ReadSlot acquire(GetRequest owner) {
        ReadSlot slot;
        if (!lastTaken) {
            slot = slots[window];
            lastTaken = true;
        } else if (freeCount > 0) {
            slot = slots[free[--freeCount]];
        } else {
            return null;
        }
        slot.owner = owner;
        return slot;
    }

    /** Gives it back. */
    void release(ReadSlot slot) {
        slot.owner = null;
        if (slot.number == window) {
            lastTaken = false;
        } else {
            free[freeCount++] = slot.number;
        }
    }

    /** True if {@link #acquire} would find one. */
    boolean hasFree() {
        return !lastTaken || freeCount > 0;
    }

    /** True if owners have slots. */
    boolean isOwned() {
        return lastTaken || window - freeCount > started;
    }

    /** Lets the requests of owners see the time. */
    void check(DeadlineCheck deadlines) {
        for (ReadSlot slot : slots) {
            GetRequest owner = slot.owner;
            if (owner != null) {
                deadlines.sent(owner);
            }
        }
    }

    /** Fails the requests of all owners. */
    void fail(KvException reason) {
        for (ReadSlot slot : slots) {
            GetRequest owner = slot.owner;
            if (owner != null) {
                owner.fail(reason);
            }
        }
    }

    /** Writes down the tags of READs of {@link KvClient#start} but for one; how many. */
    int lost(long[] tags, @Nullable ReadSlot except) {
        boolean[] isFree = new boolean[window];
        for (int i = 0; i < freeCount; i++) {
            isFree[free[i]] = true;
        }
        int lost = 0;
        for (int i = 0; i < window; i++) {
            ReadSlot slot = slots[i];
            if (!isFree[i] && slot.owner == null && slot != except) {
                tags[lost++] = slot.tag;
            }
        }
        return lost;
    }
}
