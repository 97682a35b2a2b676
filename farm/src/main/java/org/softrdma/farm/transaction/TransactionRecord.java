package org.softrdma.farm.transaction;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a machine keeps of a transaction until it is over everywhere. What it writes stays in it: recovery asks for it. The
 * node's thread.
 */
final class TransactionRecord {
    private final List<Integer> regions;
    private final List<Write> writes = new ArrayList<>();

    /** An object that it writes here. */
    static final class Write {
        private final WriteEntry entry;
        private boolean committed;
        private boolean locked;

        Write(WriteEntry entry) {
            this.entry = entry;
        }

        WriteEntry entry() {
            return entry;
        }

        long address() {
            return entry.address();
        }

        /** True once it is written, or need not be as what is there is newer; until then it may commit. */
        boolean isCommitted() {
            return committed;
        }

        void committed() {
            committed = true;
        }

        /** True while the object is locked for this transaction. */
        boolean isLocked() {
            return locked;
        }

        void locked(boolean isNow) {
            locked = isNow;
        }
    }

    /** Of a transaction that writes these regions, on whatever machine. */
    TransactionRecord(List<Integer> regions) {
        this.regions = regions;
    }

    /** Adds something that it writes here, which may commit. */
    Write add(WriteEntry entry) {
        Write added = new Write(entry);
        writes.add(added);
        return added;
    }

    List<Integer> regions() {
        return regions;
    }

    /** What it writes here. */
    List<Write> writes() {
        return writes;
    }

    /** What it writes at an address, or null. */
    @Nullable
    Write at(long address) {
        for (Write write : writes) {
            if (write.address() == address) {
                return write;
            }
        }
        return null;
    }

    boolean isCommittedInAll() {
        return writes.stream().allMatch(Write::isCommitted);
    }

    boolean isCommittedInAny() {
        return writes.stream().anyMatch(Write::isCommitted);
    }
}
