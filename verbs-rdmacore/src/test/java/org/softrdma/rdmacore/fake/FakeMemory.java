package org.softrdma.rdmacore.fake;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.softrdma.rdmacore.abi.CMemory;

/** Zeroed native memory for structures that are never freed, as a use after free must not crash the test. */
final class FakeMemory {
    private static final Arena ARENA = Arena.global();

    private FakeMemory() {}

    static long allocate(long bytes) {
        MemorySegment segment = ARENA.allocate(bytes, 2L * Long.BYTES);
        return segment.address();
    }

    /** Structures of one kind: where one was destroyed the next one is, as malloc does it. Under the fake's lock. */
    static final class Pool {
        private final int bytes;
        private final ArrayDeque<Long> free = new ArrayDeque<>();

        Pool(int bytes) {
            this.bytes = bytes;
        }

        long take() {
            Long again = free.pollFirst();
            if (again == null) {
                return allocate(bytes);
            }
            CMemory.putBytes(again, new byte[bytes]);
            return again;
        }

        void giveBack(long pointer) {
            free.addFirst(pointer);
        }
    }
}
