package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;

/**
 * MIGRATE as published (paper, section 4.3.1, figures 5 and 6): copies the entry of an occupied slot to the home
 * node, as pending; lets another slot of its key name the copy; empties the first slot; makes the copy valid. If the
 * first slot has changed, the other one is restored. If no other slot is empty, one of them has to move first. Owned
 * by the worker's thread.
 */
final class NessiePaperMove {
    /** What it has come to. */
    enum Verdict {
        /** It goes on. */
        GOING,
        /** The PUT begins again. */
        AGAIN,
        /** There is no room. */
        FULL
    }

    private final NessieWork work;

    NessiePaperMove(NessieWork work) {
        this.work = work;
    }

    /** All slots of the operation's key are in use, by others. */
    @Nullable
    Outcome begin(NessieOperation operation) {
        int rank = work.random(work.links().shape().ways());
        operation.moveDepth = 0;
        readEntry(operation, operation.slots[rank], operation.words[rank]);
        return null;
    }

    private void readEntry(NessieOperation operation, int slot, long word) {
        operation.moveSlot = slot;
        operation.moveWord = word;
        work.links().readEntry(operation, word);
        work.await(operation, NessieStep.MOVE_ENTRY);
    }

    /** What it has posted has completed. */
    Verdict resume(NessieOperation operation) {
        return switch (operation.step) {
            case MOVE_ENTRY -> onEntry(operation);
            case MOVE_WORDS -> onWords(operation);
            case MOVE_MARK -> onCopied(operation);
            case MOVE_PLACE -> onPlace(operation);
            case MOVE_CLEAR -> onClear(operation);
            case MOVE_RESTORE -> Verdict.AGAIN;
            case MOVE_VALIDATE -> {
                operation.addRemoved(operation.moveWord);
                yield Verdict.AGAIN;
            }
            default -> throw new IllegalStateException("a move at " + operation.step);
        };
    }

    private Verdict onEntry(NessieOperation operation) {
        if (!work.isWhole(operation, operation.moveWord)) {
            work.pause(operation);
            return Verdict.GOING;
        }
        MemorySegment memory = work.buffers.segment();
        long landing = work.buffers.landingAt(operation.index);
        operation.moveHash = NessieHash.of(
                memory, landing + NessieDataDescriptor.KEY_OFFSET, NessieDataDescriptor.keyLength(memory, landing));
        work.links().hash().slots(operation.moveHash, operation.otherSlots);
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            work.links().readWord(operation, operation.otherSlots[rank], other(rank));
        }
        work.await(operation, NessieStep.MOVE_WORDS);
        return Verdict.GOING;
    }

    private static int other(int rank) {
        return NessieBuffers.WORDS / 2 + rank;
    }

    private Verdict onWords(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            long word = work.buffers.word(operation.index, other(rank));
            if (NessieWordDescriptor.isEmpty(word)) {
                operation.moveTo = operation.otherSlots[rank];
                operation.moveToWord = word;
                return copy(operation);
            }
        }
        if (++operation.moveDepth > NessieMove.MOST_DEPTH) {
            return Verdict.FULL;
        }
        int rank = work.random(work.links().shape().ways());
        readEntry(operation, operation.otherSlots[rank], work.buffers.word(operation.index, other(rank)));
        return Verdict.GOING;
    }

    private Verdict copy(NessieOperation operation) {
        operation.moveReference = work.stock.take();
        if (operation.moveReference == 0) {
            work.pause(operation);
            return Verdict.GOING;
        }
        MemorySegment memory = work.buffers.segment();
        int landing = work.buffers.landingAt(operation.index);
        work.buffers
                .data()
                .seal(
                        memory,
                        work.buffers.view(),
                        landing,
                        NessieDataDescriptor.keyLength(memory, landing),
                        NessieDataDescriptor.valueLength(memory, landing),
                        operation.moveReference);
        work.links().writeEntry(operation, landing, operation.moveReference);
        work.await(operation, NessieStep.MOVE_MARK);
        return Verdict.GOING;
    }

    private long placed(NessieOperation operation) {
        return work.links().ownWord(operation.moveToWord, operation.moveReference, operation.moveHash);
    }

    private Verdict onCopied(NessieOperation operation) {
        work.links().swapWord(operation, operation.moveTo, other(0), operation.moveToWord, placed(operation));
        work.await(operation, NessieStep.MOVE_PLACE);
        return Verdict.GOING;
    }

    private Verdict onPlace(NessieOperation operation) {
        if (work.buffers.result(operation.index, other(0)) != operation.moveToWord) {
            operation.addRemoved(placed(operation));
            return Verdict.AGAIN;
        }
        work.links()
                .swapWord(
                        operation,
                        operation.moveSlot,
                        other(0),
                        operation.moveWord,
                        NessieWordDescriptor.emptied(operation.moveWord));
        work.await(operation, NessieStep.MOVE_CLEAR);
        return Verdict.GOING;
    }

    private Verdict onClear(NessieOperation operation) {
        if (work.buffers.result(operation.index, other(0)) == operation.moveWord) {
            work.links().writeValid(operation, operation.moveReference);
            work.await(operation, NessieStep.MOVE_VALIDATE);
            return Verdict.GOING;
        }
        operation.addRemoved(placed(operation));
        work.links()
                .swapWord(
                        operation,
                        operation.moveTo,
                        other(0),
                        placed(operation),
                        NessieWordDescriptor.emptied(placed(operation)));
        work.await(operation, NessieStep.MOVE_RESTORE);
        return Verdict.GOING;
    }
}
