package org.softrdma.farm.transaction;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a machine keeps of a transaction until it is over everywhere, once for each of its roles. What it writes stays in
 * it: recovery asks for it. The node's thread.
 */
final class TransactionRecord {
    /** How far a transaction is, in one role. */
    enum State {
        /** It writes nothing in this role. */
        NONE,
        /** It may commit. */
        PREPARED,
        /** It is committed, and written. */
        COMMITTED
    }

    private final List<Integer> regions;
    private final List<WriteEntry> asPrimary = new ArrayList<>();
    private final List<WriteEntry> asReplica = new ArrayList<>();
    private final Set<Long> inDoubt = new HashSet<>();
    private State primary = State.NONE;
    private State replica = State.NONE;

    /** Of a transaction that writes these regions, on whatever machine. */
    TransactionRecord(List<Integer> regions) {
        this.regions = regions;
    }

    /** Adds something that it writes in one of the roles. */
    void add(WriteEntry entry, boolean isPrimary) {
        (isPrimary ? asPrimary : asReplica).add(entry);
    }

    /** All that it writes here is added. */
    void prepared() {
        asPrimary.sort(Comparator.comparingLong(WriteEntry::address));
        primary = asPrimary.isEmpty() ? State.NONE : State.PREPARED;
        replica = asReplica.isEmpty() ? State.NONE : State.PREPARED;
    }

    List<Integer> regions() {
        return regions;
    }

    /** What it writes here as primary, in the order of addresses. */
    List<WriteEntry> asPrimary() {
        return asPrimary;
    }

    /** What it writes here as replica. */
    List<WriteEntry> asReplica() {
        return asReplica;
    }

    State primary() {
        return primary;
    }

    State replica() {
        return replica;
    }

    void primaryCommitted() {
        primary = State.COMMITTED;
    }

    void replicaCommitted() {
        replica = State.COMMITTED;
    }

    boolean isCommittedInAll() {
        return primary != State.PREPARED && replica != State.PREPARED;
    }

    boolean isCommittedInAny() {
        return primary == State.COMMITTED || replica == State.COMMITTED;
    }

    /** Objects that are locked for it since an epoch began. */
    Set<Long> inDoubt() {
        return inDoubt;
    }
}
