package org.softrdma.stores.pilaf;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.pilaf.PilafOperation.Phase;

/** The operations of a client: one more than its window, as one may be in its handler. Owned by the client's thread. */
final class PilafOperations {
    private final PilafOperation[] all;

    PilafOperations(int window) {
        all = new PilafOperation[window + 1];
        for (int i = 0; i < all.length; i++) {
            all[i] = new PilafOperation(i);
        }
    }

    int count() {
        return all.length;
    }

    PilafOperation get(int index) {
        return all[index];
    }

    /** One that nobody uses. */
    PilafOperation free() {
        for (PilafOperation operation : all) {
            if (operation.phase == Phase.FREE) {
                return operation;
            }
        }
        throw new IllegalStateException("a handler polls: it must not");
    }

    /** The one that has waited longest for a message slot; null if none waits. */
    @Nullable
    PilafOperation oldestUnsent() {
        PilafOperation oldest = null;
        for (PilafOperation operation : all) {
            if (operation.phase == Phase.UNSENT && (oldest == null || operation.number < oldest.number)) {
                oldest = operation;
            }
        }
        return oldest;
    }

    /** The connection is gone: those that need one wait for the next. */
    void disconnected() {
        for (PilafOperation operation : all) {
            if (operation.isReading() || operation.phase == Phase.UNSENT) {
                operation.phase = Phase.BEGUN;
            }
        }
    }
}
