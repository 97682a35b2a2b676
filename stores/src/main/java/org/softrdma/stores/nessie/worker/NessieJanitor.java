package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;

/**
 * Finds out whether a word names an entry of the home node that a worker has written which is gone now; in SAFE. The
 * node cannot: it sees its own index table only. If two looks at the slots of the entry's key show the same, and none
 * names it, it goes back to the node; it is abandoned first, as a compare-and-swap of that worker may still be on its
 * way. If a word names it and it is pending, the PUT is finished.
 *
 * <p>The result is always MISSING, and nobody looks at it. Owned by the worker's thread.
 */
final class NessieJanitor {
    private final NessieWork work;
    private final NessieScan scan;
    private final NessieSettling settling;

    NessieJanitor(NessieWork work, NessieScan scan, NessieSettling settling) {
        this.work = work;
        this.scan = scan;
        this.settling = settling;
    }

    /** Begins, or begins again. */
    @Nullable
    Outcome begin(NessieOperation operation) {
        operation.ownWord = work.ownWord(operation, 0);
        work.links().readEntry(operation, operation.ownWord);
        work.await(operation, NessieStep.DOUBT);
        return null;
    }

    /** What it has posted has completed. */
    @Nullable
    Outcome resume(NessieOperation operation) {
        return switch (operation.step) {
            case DOUBT -> onEntry(operation);
            case SCAN_WORDS, SCAN_ENTRY -> scan.resume(operation) ? decide(operation) : null;
            case CONDEMN -> onCondemned(operation);
            case NOTICE -> operation.ending;
            default -> throw new IllegalStateException("a check at " + operation.step);
        };
    }

    private @Nullable Outcome onEntry(NessieOperation operation) {
        if (!work.isWhole(operation, operation.ownWord)) {
            return Outcome.MISSING; // it is in use again
        }
        MemorySegment memory = work.buffers.segment();
        int landing = work.buffers.landingAt(operation.index);
        operation.ownTail = work.buffers.data().tail(memory, landing);
        operation.keyLength = NessieDataDescriptor.keyLength(memory, landing);
        int key = work.buffers.keyAt(operation.index);
        MemorySegment.copy(memory, landing + NessieDataDescriptor.KEY_OFFSET, memory, key, operation.keyLength);
        operation.hash = NessieHash.of(memory, key, operation.keyLength);
        work.links().hash().slots(operation.hash, operation.slots);
        operation.ownWord = work.ownWord(operation, 0);
        operation.forgetScan();
        scan.begin(operation);
        return null;
    }

    private @Nullable Outcome decide(NessieOperation operation) {
        for (int rank = 0; rank < work.links().shape().ways(); rank++) {
            if (NessieWordDescriptor.name(operation.words[rank]) == NessieWordDescriptor.name(operation.ownWord)) {
                if (operation.found[rank] != NessieOperation.Found.PENDING) {
                    return Outcome.MISSING;
                }
                settling.help(operation, rank);
                return null;
            }
        }
        if (!scan.isSame(operation)) {
            scan.begin(operation);
            return null;
        }
        if (NessieDataDescriptor.state(operation.ownTail) != NessieDataDescriptor.PENDING) {
            return giveBack(operation);
        }
        work.links()
                .swapTail(
                        operation,
                        work.links().home(),
                        operation.ownReference,
                        operation.ownTail,
                        NessieDataDescriptor.withState(operation.ownTail, NessieDataDescriptor.ABANDONED));
        work.await(operation, NessieStep.CONDEMN);
        return null;
    }

    private @Nullable Outcome onCondemned(NessieOperation operation) {
        return work.buffers.tail(operation.index) == operation.ownTail ? giveBack(operation) : begin(operation);
    }

    private @Nullable Outcome giveBack(NessieOperation operation) {
        operation.addRemoved(operation.ownWord);
        return work.end(operation, Outcome.MISSING);
    }
}
