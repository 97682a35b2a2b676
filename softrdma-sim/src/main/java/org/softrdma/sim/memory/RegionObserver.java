package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;

/** Told which memory of the application is registered, and says how it is named. Thread-safe. */
public interface RegionObserver {
    /** Does not listen. */
    RegionObserver NONE = new RegionObserver() {
        @Override
        public void registered(MemorySegment memory) {
            // It does not listen.
        }

        @Override
        public void deregistered(MemorySegment memory) {
            // It does not listen.
        }
    };

    /** The address by which peers and scatter/gather entries name the first byte: its own. */
    default long addressOf(MemorySegment memory) {
        return memory.address();
    }

    /** Memory is being registered; nobody knows its keys yet. */
    void registered(MemorySegment memory);

    /** A region is gone, or was not made after all; no engine touches its memory any more. */
    void deregistered(MemorySegment memory);
}
