package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;

/**
 * Runs operations, batch by batch. Each method returns how the operation has ended, or null if it goes on: then it
 * waits for completions, for time or for a free entry, as its phase tells. Owned by the worker's thread.
 */
interface NessieMachine {
    /** Begins an operation, or begins it again after a pause, or with an entry in stock. */
    @Nullable
    Outcome begin(NessieOperation operation);

    /** All requests that an operation has posted have completed. */
    @Nullable
    Outcome resume(NessieOperation operation);
}
