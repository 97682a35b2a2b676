package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;

/**
 * A GET (paper, section 4.2). Of each slot of the key, by rank: READ the word; if it names an entry that may be the
 * key's, look for a copy in the cache, or READ the entry. The first valid entry of the key is the answer. Whoever
 * finds a pending one waits. Whoever finds none READs all words once more: if none has changed, then at one time none
 * of them named an entry of the key.
 *
 * <p>SAFE also compares the reference in an entry with the one in the word, and the checksum: else an entry that is
 * being used again might be taken for what it was. If they differ although the word is still the same, the word is a
 * relic: its entry was given back before a late compare-and-swap put the word there, or died with its node.
 *
 * <p>Each method returns the outcome, or null while the operation goes on. Owned by the worker's thread.
 */
final class NessieGet {
    private final NessieWork work;

    NessieGet(NessieWork work) {
        this.work = work;
    }

    /** Begins, or begins again. */
    @Nullable
    Outcome begin(NessieOperation operation) {
        operation.rank = 0;
        return probe(operation);
    }

    private @Nullable Outcome probe(NessieOperation operation) {
        work.counters.increment(StoreCounter.PROBES);
        return readWord(operation);
    }

    private @Nullable Outcome readWord(NessieOperation operation) {
        work.links().readWord(operation, operation.slots[operation.rank], operation.rank);
        work.await(operation, NessieStep.GET_WORD);
        return null;
    }

    /** What it has posted has completed. */
    @Nullable
    Outcome resume(NessieOperation operation) {
        return switch (operation.step) {
            case GET_WORD -> onWord(operation);
            case GET_ENTRY -> onEntry(operation);
            case GET_CONFIRM -> onConfirm(operation);
            default -> throw new IllegalStateException("a GET at " + operation.step);
        };
    }

    private @Nullable Outcome onWord(NessieOperation operation) {
        long word = work.buffers.word(operation.index, operation.rank);
        operation.words[operation.rank] = word;
        if (work.judge(operation, word) != Found.UNKNOWN) {
            return next(operation);
        }
        int place = work.cache.find(work.cached(word));
        if (place == NessieCache.NONE) {
            work.links().readEntry(operation, word);
            work.await(operation, NessieStep.GET_ENTRY);
            return null;
        }
        work.counters.increment(StoreCounter.CACHE_HITS);
        MemorySegment memory = work.cache.memory();
        long entry = work.cache.at(place);
        return work.isOf(operation, memory, entry) ? found(operation, memory, entry) : next(operation);
    }

    private @Nullable Outcome onEntry(NessieOperation operation) {
        long word = operation.words[operation.rank];
        if (!work.isWhole(operation, word)) {
            work.counters.increment(StoreCounter.EXTENT_RETRIES);
            if (operation.suspects[operation.rank] == word) {
                return next(operation);
            }
            operation.suspects[operation.rank] = word;
            return readWord(operation);
        }
        return switch (work.judgeLanding(operation, word)) {
            case VALID -> found(operation, work.buffers.segment(), work.buffers.landingAt(operation.index));
            case PENDING -> onPending(operation, word);
            default -> next(operation);
        };
    }

    private @Nullable Outcome onPending(NessieOperation operation, long word) {
        if (work.mustHelp(operation, word)) {
            operation.helping = true;
            operation.tails[operation.rank] =
                    work.buffers.data().tail(work.buffers.segment(), work.buffers.landingAt(operation.index));
        } else {
            work.pause(operation);
        }
        return null;
    }

    private @Nullable Outcome next(NessieOperation operation) {
        if (++operation.rank < work.links().shape().ways()) {
            return probe(operation);
        }
        work.counters.increment(StoreCounter.CONFIRMS);
        work.links().readWords(operation);
        work.await(operation, NessieStep.GET_CONFIRM);
        return null;
    }

    private @Nullable Outcome onConfirm(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (work.buffers.word(operation.index, rank) != operation.words[rank]) {
                work.counters.increment(StoreCounter.CONFLICTS);
                return begin(operation);
            }
        }
        return Outcome.MISSING;
    }

    private static Outcome found(NessieOperation operation, MemorySegment memory, long entry) {
        operation.foundMemory = memory;
        operation.foundOffset = NessieDataDescriptor.valueOffset(memory, entry);
        operation.foundLength = NessieDataDescriptor.valueLength(memory, entry);
        return Outcome.FOUND;
    }
}
