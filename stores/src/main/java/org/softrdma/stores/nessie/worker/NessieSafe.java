package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;

/** All operations in SAFE. Owned by the worker's thread. */
final class NessieSafe implements NessieMachine {
    private final NessieGet get;
    private final NessieChange change;
    private final NessieJanitor janitor;

    NessieSafe(NessieWork work) {
        get = new NessieGet(work);
        change = new NessieChange(work);
        janitor = new NessieJanitor(work, change.scan(), change.settling());
    }

    @Override
    public @Nullable Outcome begin(NessieOperation operation) {
        operation.helping = false;
        if (operation.checks) {
            return janitor.begin(operation);
        }
        return switch (operation.kind) {
            case GET -> {
                operation.removedCount = 0; // it has helped in vain: what it has cleared stays given
                yield get.begin(operation);
            }
            case PUT, REMOVE -> change.begin(operation);
        };
    }

    @Override
    public @Nullable Outcome resume(NessieOperation operation) {
        if (operation.helping) {
            return help(operation);
        }
        if (operation.checks) {
            return janitor.resume(operation);
        }
        return switch (operation.kind) {
            case GET -> resumeGet(operation);
            case PUT, REMOVE -> change.resume(operation);
        };
    }

    private @Nullable Outcome resumeGet(NessieOperation operation) {
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
