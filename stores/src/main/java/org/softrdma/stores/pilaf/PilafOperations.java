package org.softrdma.stores.pilaf;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.client.ClientOperations;
import org.softrdma.stores.pilaf.PilafOperation.Phase;

/** The operations of a client, and which of them waits for what. Owned by the client's thread. */
final class PilafOperations extends ClientOperations<PilafOperation> {
    PilafOperations(int window) {
        super(made(window + 1));
    }

    private static PilafOperation[] made(int count) {
        PilafOperation[] all = new PilafOperation[count];
        Arrays.setAll(all, PilafOperation::new);
        return all;
    }

    /** The one that has waited longest for a message slot; null if none waits. */
    @Nullable
    PilafOperation oldestUnsent() {
        PilafOperation oldest = null;
        for (int i = 0; i < count(); i++) {
            PilafOperation operation = get(i);
            if (operation.isIn(Phase.UNSENT) && (oldest == null || operation.order() < oldest.order())) {
                oldest = operation;
            }
        }
        return oldest;
    }

    /** The connection is gone: those that need one wait for the next. */
    void disconnected() {
        for (int i = 0; i < count(); i++) {
            PilafOperation operation = get(i);
            if (operation.isReading() || operation.isIn(Phase.UNSENT)) {
                operation.phase = Phase.BEGUN;
            }
        }
    }
}
