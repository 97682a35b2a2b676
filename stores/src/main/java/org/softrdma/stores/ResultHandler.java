package org.softrdma.stores;

import java.lang.foreign.MemorySegment;

/** Takes results of a {@link StoreClient}, on its thread. */
@FunctionalInterface
public interface ResultHandler {
    /**
     * An operation has ended.
     *
     * @param tag given when it was started
     * @param outcome how it ended
     * @param memory of the value, until this returns; of no use unless the outcome is {@link Outcome#FOUND}
     * @param offset where the value begins in it
     * @param length bytes of the value
     */
    void onResult(long tag, Outcome outcome, MemorySegment memory, long offset, long length);
}
