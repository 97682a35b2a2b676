package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Found;

/**
 * Makes room for a PUT all of whose slots are in use (paper, section 4.3.1, MIGRATE); in SAFE. A word of another key
 * moves to another of that key's slots, and names the same entry there. If none of these is empty, one of them has to
 * move first, and so on; after {@link #MOST_DEPTH} of them the PUT is refused. After each move the PUT looks again.
 *
 * <pre>
 *  READ the slots where the word could go; one is empty
 *  mark the word                                  fails: somebody has changed it
 *  the empty slot names the entry                 fails: take the mark off
 *  empty the marked word                          fails: somebody else has, and knows of the other slot
 * </pre>
 *
 * <p>A worker that stops in between leaves a marked word, and perhaps two that name one entry: GETs find it, and
 * whoever changes the key next cleans up. A marked word is not moved.
 *
 * <p>Owned by the worker's thread.
 */
final class NessieMove {
    static final int MOST_DEPTH = 100;

    private final NessieWork work;
    private final NessieScan scan;

    NessieMove(NessieWork work, NessieScan scan) {
        this.work = work;
        this.scan = scan;
    }

    /** All slots of the operation's key are in use, by others. */
    @Nullable
    Outcome begin(NessieOperation operation) {
        int ways = work.links().shape().ways();
        int first = work.random(ways);
        for (int i = 0; i < ways; i++) {
            int rank = (first + i) % ways;
            if (operation.found[rank] == Found.OTHER && !NessieWordDescriptor.isMarked(operation.words[rank])) {
                operation.moveDepth = 0;
                readEntry(operation, operation.slots[rank], operation.words[rank]);
                return null;
            }
        }
        work.pause(operation);
        return null;
    }

    private void readEntry(NessieOperation operation, int slot, long word) {
        operation.moveSlot = slot;
        operation.moveWord = word;
        work.links().readEntry(operation, word);
        work.await(operation, NessieStep.MOVE_ENTRY);
    }

    /** What it has posted has completed. */
    @Nullable
    Outcome resume(NessieOperation operation) {
        switch (operation.step) {
            case MOVE_ENTRY -> onEntry(operation);
            case MOVE_WORDS -> {
                return onWords(operation);
            }
            case MOVE_MARK -> onMark(operation);
            case MOVE_PLACE -> onPlace(operation);
            case MOVE_CLEAR -> scan.begin(operation);
            default -> throw new IllegalStateException("a move at " + operation.step);
        }
        return null;
    }

    private void onEntry(NessieOperation operation) {
        if (!work.isWhole(operation, operation.moveWord)) {
            onRelic(operation);
            return;
        }
        int landing = work.buffers.landingAt(operation.index);
        long tail = work.buffers.data().tail(work.buffers.segment(), landing);
        if (NessieDataDescriptor.state(tail) == NessieDataDescriptor.ABANDONED) {
            empty(operation);
            return;
        }
        if (NessieDataDescriptor.state(tail) == NessieDataDescriptor.PENDING) {
            work.pause(operation); // somebody is about to put it
            return;
        }
        long hash = NessieHash.of(
                work.buffers.segment(),
                landing + NessieDataDescriptor.KEY_OFFSET,
                NessieDataDescriptor.keyLength(work.buffers.segment(), landing));
        work.links().hash().slots(hash, operation.otherSlots);
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            work.links().readWord(operation, operation.otherSlots[rank], other(rank));
        }
        work.await(operation, NessieStep.MOVE_WORDS);
    }

    /** The word's entry is not there: if the word is still the same at the second look, it names none. */
    private void onRelic(NessieOperation operation) {
        if (operation.suspect != operation.moveWord) {
            operation.suspect = operation.moveWord;
            scan.begin(operation);
        } else {
            empty(operation);
        }
    }

    private void empty(NessieOperation operation) {
        work.links()
                .swapWord(
                        operation,
                        operation.moveSlot,
                        other(0),
                        operation.moveWord,
                        NessieWordDescriptor.emptied(operation.moveWord));
        work.await(operation, NessieStep.MOVE_CLEAR);
    }

    private static int other(int rank) {
        return NessieBuffers.WORDS / 2 + rank;
    }

    private @Nullable Outcome onWords(NessieOperation operation) {
        int ways = work.links().shape().ways();
        boolean isThere = false;
        int empty = NessieOperation.NOWHERE;
        for (int rank = ways - 1; rank >= 0; rank--) {
            long word = work.buffers.word(operation.index, other(rank));
            isThere |= operation.otherSlots[rank] == operation.moveSlot && word == operation.moveWord;
            if (NessieWordDescriptor.isEmpty(word)) {
                empty = rank;
            }
        }
        if (!isThere) { // it has changed meanwhile
            scan.begin(operation);
            return null;
        }
        if (empty == NessieOperation.NOWHERE) {
            return goDeeper(operation);
        }
        operation.moveTo = operation.otherSlots[empty];
        operation.moveToWord = work.buffers.word(operation.index, other(empty));
        work.links()
                .swapWord(
                        operation,
                        operation.moveSlot,
                        other(0),
                        operation.moveWord,
                        NessieWordDescriptor.marked(operation.moveWord));
        work.await(operation, NessieStep.MOVE_MARK);
        return null;
    }

    private @Nullable Outcome goDeeper(NessieOperation operation) {
        if (++operation.moveDepth > MOST_DEPTH) {
            return Outcome.FULL;
        }
        int ways = work.links().shape().ways();
        int first = work.random(ways);
        for (int i = 0; i < ways; i++) {
            int rank = (first + i) % ways;
            long word = work.buffers.word(operation.index, other(rank));
            if (operation.otherSlots[rank] != operation.moveSlot && !NessieWordDescriptor.isMarked(word)) {
                readEntry(operation, operation.otherSlots[rank], word);
                return null;
            }
        }
        work.pause(operation);
        return null;
    }

    private void onMark(NessieOperation operation) {
        if (work.buffers.result(operation.index, other(0)) != operation.moveWord) {
            work.counters.increment(StoreCounter.CONFLICTS);
            scan.begin(operation);
            return;
        }
        operation.moveWord = NessieWordDescriptor.marked(operation.moveWord);
        work.links()
                .swapWord(
                        operation,
                        operation.moveTo,
                        other(0),
                        operation.moveToWord,
                        NessieWordDescriptor.next(
                                operation.moveToWord,
                                NessieWordDescriptor.place(operation.moveWord),
                                NessieWordDescriptor.reference(operation.moveWord)));
        work.await(operation, NessieStep.MOVE_PLACE);
    }

    private void onPlace(NessieOperation operation) {
        boolean placed = work.buffers.result(operation.index, other(0)) == operation.moveToWord;
        if (!placed) {
            work.counters.increment(StoreCounter.CONFLICTS);
        }
        work.links()
                .swapWord(
                        operation,
                        operation.moveSlot,
                        other(0),
                        operation.moveWord,
                        placed
                                ? NessieWordDescriptor.emptied(operation.moveWord)
                                : NessieWordDescriptor.unmarked(operation.moveWord));
        work.await(operation, NessieStep.MOVE_CLEAR);
    }
}
