package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.nessie.worker.NessieOperation.Kind;

/** All operations in SAFE. Owned by the worker's thread. */
final class NessieSafe implements NessieMachine {
    private final NessieGet get;
    private final NessieChange change;

    NessieSafe(NessieWork work) {
        get = new NessieGet(work);
        change = new NessieChange(work);
    }

    @Override
    public @Nullable Outcome begin(NessieOperation operation) {
        operation.helping = false;
        if (operation.kind != Kind.GET) {
            return change.begin(operation);
        }
        operation.removedCount = 0; // it has helped in vain: what it has cleared stays given
        return get.begin(operation);
    }

    @Override
    public @Nullable Outcome resume(NessieOperation operation) {
        if (operation.helping) {
            return help(operation);
        }
        if (operation.kind != Kind.GET) {
            return change.resume(operation);
        }
        Outcome outcome = get.resume(operation);
        if (outcome == null && operation.helping) {
            change.settling().help(operation, operation.rank);
        }
        return outcome;
    }

    private @Nullable Outcome help(NessieOperation operation) {
        if (change.settling().resume(operation) == NessieSettling.Verdict.GOING) {
            return null;
        }
        return begin(operation);
    }
}
