package org.softrdma.stores.nessie.worker;

import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;

/**
 * A look at all slots of a key: READ all words at once, then, one after the other, the entries that may be the key's.
 * What a word named at the last look it names still, as long as it is the same, unless the entry was pending. Owned
 * by the worker's thread.
 */
final class NessieScan {
    private final NessieWork work;

    NessieScan(NessieWork work) {
        this.work = work;
    }

    /** Begins a look. */
    void begin(NessieOperation operation) {
        int ways = work.links().shape().ways();
        System.arraycopy(operation.words, 0, operation.before, 0, ways);
        operation.bumped = false;
        work.counters.add(StoreCounter.PROBES, ways);
        work.links().readWords(operation);
        work.await(operation, NessieStep.SCAN_WORDS);
    }

    /** What it has posted has completed; true if every slot is known now. */
    boolean resume(NessieOperation operation) {
        if (operation.step == NessieStep.SCAN_WORDS) {
            onWords(operation);
        } else if (!onEntry(operation)) {
            return false;
        }
        return isKnown(operation);
    }

    private void onWords(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            long word = work.buffers.word(operation.index, rank);
            Found known = operation.found[rank];
            boolean lasts = known != Found.PENDING && known != Found.OWN;
            if (word != operation.words[rank] || operation.scans == 0 || !lasts) {
                operation.words[rank] = word;
                operation.found[rank] =
                        isOwn(operation, rank) && !operation.helping ? Found.OWN : work.judge(operation, word);
            }
        }
        operation.scans++;
    }

    /** The word names the entry that is to become valid. Who helps has to see each time that it is still pending. */
    private static boolean isOwn(NessieOperation operation, int rank) {
        return rank == operation.ownRank && operation.words[rank] == operation.ownWord;
    }

    private boolean isKnown(NessieOperation operation) {
        int ways = work.links().shape().ways();
        for (int rank = 0; rank < ways; rank++) {
            if (operation.found[rank] != Found.UNKNOWN) {
                continue;
            }
            long word = operation.words[rank];
            int place = work.cache.find(work.cached(word));
            if (place == NessieCache.NONE) {
                operation.rank = rank;
                work.links().readEntry(operation, word);
                work.await(operation, NessieStep.SCAN_ENTRY);
                return false;
            }
            work.counters.increment(StoreCounter.CACHE_HITS);
            boolean matches = work.isOf(operation, work.cache.memory(), work.cache.at(place));
            operation.found[rank] = matches ? Found.VALID : Found.OTHER;
            operation.foundAt[rank] = operation.scans;
            operation.tails[rank] = work.buffers.data().tail(work.cache.memory(), work.cache.at(place));
        }
        return true;
    }

    /** False if the look has to begin again. */
    private boolean onEntry(NessieOperation operation) {
        int rank = operation.rank;
        long word = operation.words[rank];
        if (work.isWhole(operation, word)) {
            operation.found[rank] = work.judgeLanding(operation, word);
            operation.foundAt[rank] = operation.scans;
            if (operation.found[rank] == Found.PENDING && isOwn(operation, rank)) {
                operation.found[rank] = Found.OWN;
            }
            operation.tails[rank] =
                    work.buffers.data().tail(work.buffers.segment(), work.buffers.landingAt(operation.index));
            return true;
        }
        work.counters.increment(StoreCounter.EXTENT_RETRIES);
        if (operation.suspects[rank] == word) {
            operation.found[rank] = Found.DANGLING;
            return true;
        }
        operation.suspects[rank] = word;
        begin(operation);
        return false;
    }

    /** True if a word that is marked has been seen so at the look before, too. */
    boolean isSettled(NessieOperation operation, int rank) {
        return operation.scans > 1 && operation.words[rank] == operation.before[rank];
    }

    /**
     * Counts up the versions of all empty slots of the key: a worker that has marked a word of it, and read the slot
     * where it is to go before that, cannot put it there any more. Call it when a look has been made behind the one
     * that saw the mark. False if no slot is empty.
     */
    boolean bump(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (operation.found[rank] == Found.EMPTY) {
                long word = operation.words[rank];
                work.links().swapWord(operation, operation.slots[rank], rank, word, NessieWordDescriptor.emptied(word));
            }
        }
        operation.bumped = true;
        if (operation.outstanding == 0) {
            return false;
        }
        work.await(operation, NessieStep.BUMP);
        return true;
    }

    /** The versions are counted up; false if a slot was not empty any more, so that a look has to be made. */
    boolean onBump(NessieOperation operation) {
        boolean all = true;
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (operation.found[rank] == Found.EMPTY) {
                long word = operation.words[rank];
                all &= work.buffers.result(operation.index, rank) == word;
                operation.words[rank] = NessieWordDescriptor.emptied(word);
            }
        }
        return all;
    }

    /** True if no word is another one than at the look before. */
    boolean isSame(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (operation.words[rank] != operation.before[rank]) {
                return false;
            }
        }
        return operation.scans > 1;
    }

    /** The first slot of which this is known; {@link NessieOperation#NOWHERE} if there is none. */
    int first(NessieOperation operation, Found what) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (operation.found[rank] == what) {
                return rank;
            }
        }
        return NessieOperation.NOWHERE;
    }
}
