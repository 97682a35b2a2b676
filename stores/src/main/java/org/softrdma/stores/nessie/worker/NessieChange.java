package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;

/**
 * PUT and REMOVE in SAFE, up to where a slot names the entry of a PUT: {@link NessieSettling} goes on from there. Both
 * look at all slots of the key first. Whoever finds a pending entry waits, as it would for a lock.
 *
 * <p><b>PUT</b> replaces the first word that names an entry of the key; if there is none, the first empty one; if
 * there is none either, {@link NessieMove} makes room. Two PUTs of a new key may so take different slots: settling
 * finds that out.
 *
 * <p><b>REMOVE</b> looks until two looks have shown the same, and then empties each word that names the key's entry:
 * there are two if it is moving. It takes effect when no word names the entry any more. Several REMOVEs, and the worker
 * that moves it, may each have emptied one of the words; the entry's state decides who has removed it.
 *
 * <p>Owned by the worker's thread.
 */
final class NessieChange {
    private final NessieWork work;
    private final NessieScan scan;
    private final NessieSettling settling;
    private final NessieMove move;

    NessieChange(NessieWork work) {
        this.work = work;
        scan = new NessieScan(work);
        settling = new NessieSettling(work, scan);
        move = new NessieMove(work, scan);
    }

    NessieSettling settling() {
        return settling;
    }

    NessieScan scan() {
        return scan;
    }

    /** Begins, or begins again. */
    @Nullable
    Outcome begin(NessieOperation operation) {
        operation.ownRank = NessieOperation.NOWHERE;
        operation.forgetScan();
        if (operation.kind == OperationKind.PUT && operation.ownReference == 0) {
            if (!work.takeEntry(operation)) {
                return null;
            }
            work.writeOwn(operation);
        }
        scan.begin(operation);
        return null;
    }

    /** What it has posted has completed. */
    @Nullable
    Outcome resume(NessieOperation operation) {
        if (operation.step == NessieStep.NOTICE) {
            return operation.ending;
        }
        if (operation.ownRank != NessieOperation.NOWHERE) {
            return settle(operation);
        }
        return switch (operation.step) {
            case SCAN_WORDS, SCAN_ENTRY -> scan.resume(operation) ? decide(operation) : null;
            case BUMP -> scan.onBump(operation) ? decide(operation) : look(operation);
            case PLACE -> onPlace(operation);
            case REMOVE -> onRemove(operation);
            case CLAIM -> onClaim(operation);
            default -> onMove(operation);
        };
    }

    private @Nullable Outcome settle(NessieOperation operation) {
        return switch (settling.resume(operation)) {
            case GOING -> null;
            case VALID -> work.end(operation, Outcome.STORED);
            case AGAIN -> {
                operation.ownReference = 0;
                yield begin(operation);
            }
        };
    }

    private @Nullable Outcome look(NessieOperation operation) {
        scan.begin(operation);
        return null;
    }

    private @Nullable Outcome decide(NessieOperation operation) {
        int pending = scan.first(operation, Found.PENDING);
        if (pending != NessieOperation.NOWHERE) {
            if (work.mustHelp(operation, operation.words[pending])) {
                settling.help(operation, pending);
            } else {
                work.pause(operation);
            }
            return null;
        }
        if (operation.kind == OperationKind.REMOVE && !operation.bumped && !scan.isSame(operation)) {
            return look(operation);
        }
        for (int rank = 0; rank < work.links().shape().ways() && !operation.bumped; rank++) {
            if (operation.found[rank] == Found.VALID && NessieWordDescriptor.isMarked(operation.words[rank])) {
                if (!scan.isSettled(operation, rank)) {
                    return look(operation);
                }
                if (scan.bump(operation)) {
                    return null;
                }
            }
        }
        return operation.kind == OperationKind.REMOVE ? remove(operation) : place(operation);
    }

    // ---- PUT

    private @Nullable Outcome place(NessieOperation operation) {
        int rank = scan.first(operation, Found.VALID);
        if (rank == NessieOperation.NOWHERE) {
            int empty = scan.first(operation, Found.EMPTY);
            int dangling = scan.first(operation, Found.DANGLING);
            rank = empty == NessieOperation.NOWHERE ? dangling : empty;
        }
        if (rank == NessieOperation.NOWHERE) {
            return move.begin(operation);
        }
        operation.rank = rank;
        operation.exposed = true;
        long word = operation.words[rank];
        work.links().swapWord(operation, operation.slots[rank], rank, word, work.ownWord(operation, word));
        work.await(operation, NessieStep.PLACE);
        return null;
    }

    private @Nullable Outcome onPlace(NessieOperation operation) {
        int rank = operation.rank;
        long word = operation.words[rank];
        if (work.buffers.result(operation.index, rank) != word) {
            work.counters.increment(StoreCounter.CONFLICTS);
            return look(operation);
        }
        if (operation.found[rank] == Found.VALID) {
            operation.addRemoved(word);
        }
        operation.ownRank = rank;
        operation.ownTable = work.links().home();
        operation.ownWord = work.ownWord(operation, word);
        operation.ownTail = work.buffers.data().tail(work.buffers.segment(), work.buffers.imageAt(operation.index));
        operation.words[rank] = operation.ownWord;
        operation.found[rank] = Found.OWN;
        settling.begin(operation);
        return null;
    }

    private @Nullable Outcome onMove(NessieOperation operation) {
        Outcome outcome = move.resume(operation);
        if (outcome == null) {
            return null;
        }
        operation.addRemoved(work.ownWord(operation, 0));
        return work.end(operation, outcome);
    }

    // ---- REMOVE

    private @Nullable Outcome remove(NessieOperation operation) {
        if (operation.clearedWord != 0 && !isNamed(operation, operation.clearedWord)) {
            return claim(operation);
        }
        int words = 0;
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (operation.found[rank] == Found.VALID) {
                long word = operation.words[rank];
                work.links().swapWord(operation, operation.slots[rank], rank, word, NessieWordDescriptor.emptied(word));
                words++;
            }
        }
        if (words == 0) {
            return work.end(operation, Outcome.MISSING);
        }
        operation.exposed = true;
        work.await(operation, NessieStep.REMOVE);
        return null;
    }

    private boolean isNamed(NessieOperation operation, long word) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (NessieWordDescriptor.name(operation.words[rank]) == NessieWordDescriptor.name(word)) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Outcome onRemove(NessieOperation operation) {
        boolean all = true;
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (operation.found[rank] == Found.VALID) {
                long word = operation.words[rank];
                if (work.buffers.result(operation.index, rank) == word) {
                    operation.clearedWord = word;
                    operation.clearedTail = operation.tails[rank];
                } else {
                    all = false;
                }
            }
        }
        if (all) {
            return claim(operation);
        }
        work.counters.increment(StoreCounter.CONFLICTS);
        return look(operation);
    }

    /** Of several REMOVEs that have emptied words of one entry, one has removed it. */
    private @Nullable Outcome claim(NessieOperation operation) {
        long word = operation.clearedWord;
        work.links()
                .swapTail(
                        operation,
                        NessieWordDescriptor.table(word, work.links().shape().filterBits()),
                        NessieWordDescriptor.reference(word),
                        operation.clearedTail,
                        NessieDataDescriptor.withState(operation.clearedTail, NessieDataDescriptor.ABANDONED));
        operation.addRemoved(word);
        work.links().notice(operation);
        work.await(operation, NessieStep.CLAIM);
        return null;
    }

    private @Nullable Outcome onClaim(NessieOperation operation) {
        if (work.buffers.tail(operation.index) == operation.clearedTail) {
            return Outcome.REMOVED;
        }
        operation.clearedWord = 0;
        return look(operation);
    }
}
