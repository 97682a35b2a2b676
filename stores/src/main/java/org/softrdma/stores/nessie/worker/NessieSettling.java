package org.softrdma.stores.nessie.worker;

import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;

/**
 * From a slot that names a pending entry to the entry that is valid; in SAFE. The worker that put the entry there
 * does it, or any other that has waited too long for that: then the operation only helps, and begins again
 * afterwards.
 *
 * <pre>
 *  look at all slots of the key
 *   the own word has gone                        give up the entry
 *   another pending entry, in an earlier slot    give up the entry, empty the own word
 *   another entry of the key                     empty its word, look again
 *   else, if this look shows what the last did   the entry becomes valid
 *   else                                         look again
 * </pre>
 *
 * <p>Between two looks that show the same, all words had their values at one instant, and the pending entry was the
 * only one of its key: that is when the PUT takes effect. It stays the newest from then on: a valid entry of the key
 * that no word names cannot come back, as a word is marked before it moves, and a marked word is emptied only after
 * the slots where it could go were changed.
 *
 * <p>Only the compare-and-swap of an entry's state decides what becomes of it. So anybody may help at any time, and a
 * worker that gives an entry up learns whether another one has made it valid meanwhile. It puts its pair again in
 * another entry, as a helper's compare-and-swap may still be on its way to this one.
 *
 * <p>Owned by the worker's thread.
 */
final class NessieSettling {
    /** What it has come to. */
    enum Verdict {
        /** It goes on. */
        GOING,
        /** Begin again; a PUT needs another entry. */
        AGAIN,
        /** The entry is valid. */
        VALID
    }

    private final NessieWork work;
    private final NessieScan scan;

    NessieSettling(NessieWork work, NessieScan scan) {
        this.work = work;
        this.scan = scan;
    }

    /** A slot names the operation's own entry. */
    void begin(NessieOperation operation) {
        scan.begin(operation);
    }

    /** Finishes what another worker has begun: the operation has found a pending entry at this rank. */
    void help(NessieOperation operation, int rank) {
        long word = operation.words[rank];
        operation.helping = true;
        operation.waitedWord = 0;
        operation.ownRank = rank;
        operation.ownWord = word;
        operation.ownTable =
                NessieWordDescriptor.table(word, work.links().shape().filterBits());
        operation.ownTail = operation.tails[rank];
        operation.forgetScan();
        scan.begin(operation);
    }

    /** What it has posted has completed. */
    Verdict resume(NessieOperation operation) {
        return switch (operation.step) {
            case SCAN_WORDS, SCAN_ENTRY -> scan.resume(operation) ? decide(operation) : Verdict.GOING;
            case BUMP -> scan.onBump(operation) ? decide(operation) : look(operation);
            case CLEAR -> onClear(operation);
            case VALIDATE -> onValidate(operation);
            case ABANDON -> onAbandon(operation);
            case WITHDRAW -> Verdict.AGAIN;
            default -> throw new IllegalStateException("settling at " + operation.step);
        };
    }

    private Verdict look(NessieOperation operation) {
        scan.begin(operation);
        return Verdict.GOING;
    }

    private Verdict decide(NessieOperation operation) {
        if (operation.words[operation.ownRank] != operation.ownWord) {
            return giveUp(operation, false);
        }
        if (operation.found[operation.ownRank] != Found.OWN) {
            return Verdict.AGAIN; // whoever it is helped has made it valid, or given it up
        }
        int pending = scan.first(operation, Found.PENDING);
        if (pending != NessieOperation.NOWHERE && pending < operation.ownRank) {
            return giveUp(operation, true);
        }
        int other = pending == NessieOperation.NOWHERE ? scan.first(operation, Found.VALID) : pending;
        if (other != NessieOperation.NOWHERE) {
            return clear(operation, other);
        }
        if (!scan.isSame(operation)) {
            return look(operation);
        }
        swapState(operation, NessieDataDescriptor.VALID);
        work.links().notice(operation);
        work.await(operation, NessieStep.VALIDATE);
        return Verdict.GOING;
    }

    private void swapState(NessieOperation operation, int state) {
        work.links()
                .swapTail(
                        operation,
                        operation.ownTable,
                        NessieWordDescriptor.reference(operation.ownWord),
                        operation.ownTail,
                        NessieDataDescriptor.withState(operation.ownTail, state));
    }

    private Verdict clear(NessieOperation operation, int rank) {
        long word = operation.words[rank];
        if (operation.found[rank] == Found.VALID && operation.foundAt[rank] == operation.scans) {
            return look(
                    operation); // it is older only if the own entry is still there, and pending, after this was seen
        }
        if (NessieWordDescriptor.isMarked(word) && !operation.bumped) {
            if (!scan.isSettled(operation, rank)) {
                return look(operation);
            }
            if (scan.bump(operation)) {
                return Verdict.GOING;
            }
        }
        operation.rank = rank;
        work.links().swapWord(operation, operation.slots[rank], rank, word, NessieWordDescriptor.emptied(word));
        work.await(operation, NessieStep.CLEAR);
        return Verdict.GOING;
    }

    private Verdict onClear(NessieOperation operation) {
        long word = operation.words[operation.rank];
        if (work.buffers.result(operation.index, operation.rank) == word) {
            operation.addRemoved(word);
        }
        return look(operation);
    }

    private Verdict onValidate(NessieOperation operation) {
        return operation.helping
                ? Verdict.AGAIN
                : Verdict.VALID; // if somebody has helped, it may even be removed by now
    }

    /** Another entry of the key has won. */
    private Verdict giveUp(NessieOperation operation, boolean withdrawing) {
        if (operation.helping) {
            return Verdict.AGAIN;
        }
        operation.withdrawing = withdrawing;
        swapState(operation, NessieDataDescriptor.ABANDONED);
        work.await(operation, NessieStep.ABANDON);
        return Verdict.GOING;
    }

    private Verdict onAbandon(NessieOperation operation) {
        if (work.buffers.tail(operation.index) != operation.ownTail) {
            return Verdict.VALID; // somebody has helped
        }
        operation.addRemoved(operation.ownWord);
        if (!operation.withdrawing) {
            return Verdict.AGAIN;
        }
        int rank = operation.ownRank;
        work.links()
                .swapWord(
                        operation,
                        operation.slots[rank],
                        rank,
                        operation.ownWord,
                        NessieWordDescriptor.emptied(operation.ownWord));
        work.await(operation, NessieStep.WITHDRAW);
        return Verdict.GOING;
    }
}
