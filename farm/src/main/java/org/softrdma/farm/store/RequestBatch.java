package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.table.TableKey;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Outcome;

/**
 * Requests that have come from all clients since the last batch, in the order in which they were taken. Those for one
 * key are combined ("a technique inspired by flat combining", section 3.6): the objects change once, to what the last of
 * them makes of the pair, and each is answered as if they had been executed one after the other. That they are all under
 * way makes it lawful. Allocates nothing once its buffers are as long as values get. The server's thread.
 */
final class RequestBatch {
    /** Most requests. */
    static final int CAPACITY = 64;

    private final FarmShards shards;
    private final Entry[] entries = new Entry[CAPACITY];
    private int count;
    private long combined;

    /** Who has asked. */
    interface Asker {
        /**
         * Takes an answer.
         *
         * @param number of the request
         * @param outcome of it
         */
        void answer(long number, Outcome outcome);
    }

    /** One request. */
    private static final class Entry {
        private final TableKey key;
        private @Nullable Asker asker;
        private long number;
        private boolean put;
        private byte[] bytes = new byte[256];
        private MemorySegment value = MemorySegment.ofArray(bytes);
        private int valueLength;
        private @Nullable Outcome outcome;

        Entry(TableShape shape) {
            key = new TableKey(shape);
        }

        private void take(Asker newAsker, MemorySegment memory, long at) {
            asker = newAsker;
            number = FarmRequestDescriptor.number(memory, at);
            put = FarmRequestDescriptor.operation(memory, at) == FarmRequestDescriptor.PUT;
            int keyLength = FarmRequestDescriptor.keyLength(memory, at);
            key.set(memory, at + FarmRequestDescriptor.KEY_OFFSET, keyLength);
            valueLength = FarmRequestDescriptor.valueLength(memory, at);
            if (valueLength > bytes.length) {
                bytes = new byte[valueLength];
                value = MemorySegment.ofArray(bytes);
            }
            MemorySegment.copy(memory, at + FarmRequestDescriptor.KEY_OFFSET + keyLength, value, 0, valueLength);
            outcome = null;
        }
    }

    RequestBatch(TableShape shape, FarmShards shards) {
        this.shards = shards;
        for (int i = 0; i < CAPACITY; i++) {
            entries[i] = new Entry(shape);
        }
    }

    boolean isFull() {
        return count == CAPACITY;
    }

    /**
     * Adds a request; what is at its place may be overwritten afterwards.
     *
     * @param asker who asks
     * @param memory that has a valid request
     * @param at where
     */
    void add(Asker asker, MemorySegment memory, long at) {
        entries[count++].take(asker, memory, at);
    }

    /** Executes all requests, and answers them. */
    void execute() {
        for (int i = 0; i < count; i++) {
            if (entries[i].outcome == null) {
                executeAllOf(i);
            }
        }
        for (int i = 0; i < count; i++) {
            Entry entry = entries[i];
            Asker asker = entry.asker;
            Outcome outcome = entry.outcome;
            if (asker != null && outcome != null) {
                asker.answer(entry.number, outcome);
            }
            entry.asker = null;
        }
        count = 0;
    }

    private void executeAllOf(int first) {
        int last = first;
        for (int i = first + 1; i < count; i++) {
            if (entries[i].key.isSame(entries[first].key)) {
                last = i;
            }
        }
        if (last == first || !combine(first, last)) {
            for (int i = first; i <= last; i++) {
                if (entries[i].key.isSame(entries[first].key)) {
                    entries[i].outcome = one(entries[i]);
                }
            }
        }
    }

    private Outcome one(Entry entry) {
        return entry.put ? shards.put(entry.key, entry.value, 0, entry.valueLength) : shards.remove(entry.key);
    }

    /** False, with nothing done, if there is no memory for the last value: each may then end differently. */
    private boolean combine(int first, int last) {
        boolean present = shards.contains(entries[first].key);
        if ((present || entries[last].put) && one(entries[last]) == Outcome.FULL) {
            return false;
        }
        for (int i = first; i <= last; i++) {
            Entry entry = entries[i];
            if (entry.key.isSame(entries[first].key)) {
                Outcome removed = present ? Outcome.REMOVED : Outcome.MISSING;
                entry.outcome = entry.put ? Outcome.STORED : removed;
                present = entry.put;
                combined += i == last ? 0 : 1;
            }
        }
        return true;
    }

    /** Requests that were executed by a later one. */
    long combined() {
        return combined;
    }
}
