package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;

/**
 * PUT and DELETE as published (paper, sections 4.3 and 4.3.2). Where the paper tells its user of a conflict, the
 * operation begins again.
 *
 * <p><b>PUT.</b> Rank by rank, READ the word; the first that is empty or names an entry of the key is made to name
 * the new one; words behind it that name an entry of the key are emptied. Then all words are READ once more, the last
 * rank first; if none has changed, the entry becomes valid. If every slot is another key's, {@link NessiePaperMove}
 * makes room.
 *
 * <p><b>DELETE.</b> The same from the last rank to the first; words that name an entry of the key are emptied. It does
 * not look again, and that is a hole: a key that moves from a slot that it has not looked at to one that it has lives
 * on.
 *
 * <p>Owned by the worker's thread.
 */
final class NessiePaper implements NessieMachine {
    private final NessieWork work;
    private final NessieGet get;
    private final NessiePaperMove move;

    NessiePaper(NessieWork work) {
        this.work = work;
        get = new NessieGet(work);
        move = new NessiePaperMove(work);
    }

    @Override
    public @Nullable Outcome begin(NessieOperation operation) {
        return switch (operation.kind) {
            case GET -> get.begin(operation);
            case PUT -> beginPut(operation);
            case REMOVE -> {
                operation.rank = work.links().shape().ways() - 1;
                yield probe(operation);
            }
        };
    }

    private @Nullable Outcome beginPut(NessieOperation operation) {
        boolean placed = operation.ownRank != NessieOperation.NOWHERE;
        if (operation.ownReference == 0 || placed) {
            if (!work.takeEntry(operation)) {
                return null;
            }
            work.writeOwn(operation);
        }
        operation.ownRank = NessieOperation.NOWHERE;
        operation.rank = 0;
        return probe(operation);
    }

    private @Nullable Outcome probe(NessieOperation operation) {
        work.counters.increment(StoreCounter.PROBES);
        work.links().readWord(operation, operation.slots[operation.rank], operation.rank);
        work.await(operation, NessieStep.WORD);
        return null;
    }

    @Override
    public @Nullable Outcome resume(NessieOperation operation) {
        if (operation.kind == OperationKind.GET) {
            return get.resume(operation);
        }
        return switch (operation.step) {
            case WORD -> onWord(operation);
            case ENTRY -> onEntry(operation);
            case PLACE -> onPlace(operation);
            case CLEAR -> onClear(operation);
            case CONFIRM -> onConfirm(operation);
            case VALIDATE, NOTICE -> operation.ending;
            default -> onMove(operation);
        };
    }

    private @Nullable Outcome onWord(NessieOperation operation) {
        long word = work.buffers.word(operation.index, operation.rank);
        operation.words[operation.rank] = word;
        Found found = work.judge(operation, word);
        if (found == Found.EMPTY && isSearching(operation)) {
            return place(operation);
        }
        if (found != Found.UNKNOWN) {
            return next(operation);
        }
        int place = work.cache.find(work.cached(word));
        if (place != NessieCache.NONE) {
            work.counters.increment(StoreCounter.CACHE_HITS);
            return work.isOf(operation, work.cache.memory(), work.cache.at(place))
                    ? change(operation)
                    : next(operation);
        }
        work.links().readEntry(operation, word);
        work.await(operation, NessieStep.ENTRY);
        return null;
    }

    private static boolean isSearching(NessieOperation operation) {
        return operation.kind == OperationKind.PUT && operation.ownRank == NessieOperation.NOWHERE;
    }

    private @Nullable Outcome onEntry(NessieOperation operation) {
        long word = operation.words[operation.rank];
        if (!work.isWhole(operation, word)) {
            work.pause(operation);
            return null;
        }
        Found found = work.judgeLanding(operation, word);
        return found == Found.VALID || found == Found.PENDING ? change(operation) : next(operation);
    }

    /** The word names an entry of the key. */
    private @Nullable Outcome change(NessieOperation operation) {
        if (isSearching(operation)) {
            return place(operation);
        }
        int rank = operation.rank;
        long word = operation.words[rank];
        operation.exposed = true;
        work.links().swapWord(operation, operation.slots[rank], rank, word, NessieWordDescriptor.emptied(word));
        work.await(operation, NessieStep.CLEAR);
        return null;
    }

    private @Nullable Outcome place(NessieOperation operation) {
        int rank = operation.rank;
        long word = operation.words[rank];
        operation.exposed = true;
        work.links().swapWord(operation, operation.slots[rank], rank, word, work.ownWord(operation, word));
        work.await(operation, NessieStep.PLACE);
        return null;
    }

    private @Nullable Outcome onPlace(NessieOperation operation) {
        int rank = operation.rank;
        long word = operation.words[rank];
        if (work.buffers.result(operation.index, rank) != word) {
            work.pause(operation);
            return null;
        }
        if (!NessieWordDescriptor.isEmpty(word)) {
            operation.addRemoved(word);
        }
        operation.ownRank = rank;
        operation.words[rank] = work.ownWord(operation, word);
        return next(operation);
    }

    private @Nullable Outcome onClear(NessieOperation operation) {
        int rank = operation.rank;
        long word = operation.words[rank];
        if (work.buffers.result(operation.index, rank) != word) {
            work.pause(operation);
            return null;
        }
        operation.addRemoved(word);
        operation.clearedWord = word;
        operation.words[rank] = NessieWordDescriptor.emptied(word);
        return next(operation);
    }

    private @Nullable Outcome next(NessieOperation operation) {
        if (operation.kind == OperationKind.REMOVE) {
            if (--operation.rank >= 0) {
                return probe(operation);
            }
            return work.end(operation, operation.clearedWord == 0 ? Outcome.MISSING : Outcome.REMOVED);
        }
        if (++operation.rank < work.links().shape().ways()) {
            return probe(operation);
        }
        if (isSearching(operation)) {
            return move.begin(operation);
        }
        work.links().readWords(operation);
        work.await(operation, NessieStep.CONFIRM);
        return null;
    }

    private @Nullable Outcome onConfirm(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (work.buffers.word(operation.index, rank) != operation.words[rank]) {
                work.pause(operation);
                return null;
            }
        }
        work.links().writeValid(operation, operation.ownReference);
        work.links().notice(operation);
        operation.ending = Outcome.STORED;
        work.await(operation, NessieStep.VALIDATE);
        return null;
    }

    private @Nullable Outcome onMove(NessieOperation operation) {
        return switch (move.resume(operation)) {
            case GOING -> null;
            case AGAIN -> begin(operation);
            case FULL -> {
                operation.addRemoved(work.ownWord(operation, 0));
                yield work.end(operation, Outcome.FULL);
            }
        };
    }
}
