package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;

/**
 * The commit of one transaction. One message a machine and phase, each with an answer:
 *
 * <ol>
 *   <li><b>PREPARE</b> to the primaries of what is written: they lock it, if it is of the version that was read.
 *   <li><b>VALIDATE</b> to the primaries of what was only read: it has still that version, and no lock. After the locks,
 *       because then no other transaction can commit in between without being seen by one of the two.
 *   <li>The decision. From here on it commits, however long that takes.
 *   <li><b>COMMIT_PRIMARY</b>: they write and unlock. With the first answer the application is told. The others are still
 *       locked, so nobody can see old values.
 *   <li>When all have answered, the transaction is over everywhere.
 * </ol>
 *
 * <p>A refusal in 1 or 2 leads to <b>ABORT</b> to all who were asked to prepare. No socket, no clock. The node's thread.
 */
public final class Coordinator {
    /** How far it is. */
    public enum Phase {
        /** Nothing is sent. */
        NEW,
        /** Primaries lock. */
        PREPARING,
        /** Primaries look at what was read. */
        VALIDATING,
        /** It is decided, primaries write. */
        COMMITTING,
        /** Primaries give back their locks. */
        ABORTING,
        /** All have answered. */
        OVER
    }

    /** What the application is told. */
    public enum Told {
        /** Nothing yet. */
        NOTHING,
        /** It has taken effect. */
        COMMITTED,
        /** It has not, and never will. */
        ABORTED
    }

    /** Sends messages. */
    @FunctionalInterface
    public interface Sender {
        /** Sends one; its answer comes to {@link Coordinator#onAnswer}, perhaps at once. */
        void send(int machine, ByteBuffer message);
    }

    private final TxId id;
    private final Sender sender;
    private final Map<Integer, List<WriteEntry>> writes = new TreeMap<>();
    private final Map<Integer, List<ObjectVersion>> reads = new TreeMap<>();
    private final SortedSet<Integer> regions = new TreeSet<>();
    private final Set<Integer> awaited = new HashSet<>();
    private Phase phase = Phase.NEW;
    private Told told = Told.NOTHING;
    private String reason = "";

    /**
     * A commit that has not begun.
     *
     * @param id of the transaction
     * @param written what it writes
     * @param read what it only reads
     * @param primaries the primary of each region
     * @param sender of its messages
     */
    public Coordinator(
            TxId id, List<WriteEntry> written, List<ObjectVersion> read, IntUnaryOperator primaries, Sender sender) {
        this.id = id;
        this.sender = sender;
        for (WriteEntry entry : written) {
            int region = FarmAddress.region(entry.address());
            regions.add(region);
            writes.computeIfAbsent(primaries.applyAsInt(region), any -> new ArrayList<>())
                    .add(entry);
        }
        for (ObjectVersion version : read) {
            reads.computeIfAbsent(primaries.applyAsInt(FarmAddress.region(version.address())), any -> new ArrayList<>())
                    .add(version);
        }
    }

    /** Begins. */
    public void begin() {
        if (writes.isEmpty()) {
            validate();
            return;
        }
        phase = Phase.PREPARING;
        awaited.addAll(writes.keySet());
        writes.forEach((machine, entries) -> sender.send(machine, TransactionMessages.prepare(id, regions, entries)));
    }

    /** How far it is. */
    public Phase phase() {
        return phase;
    }

    /** What the application is told. */
    public Told told() {
        return told;
    }

    /** Why it aborts. */
    public String reason() {
        return reason;
    }

    /**
     * An answer to a message of this phase.
     *
     * @param machine which answers
     * @param answer of it
     */
    public void onAnswer(int machine, ByteBuffer answer) {
        NodeVerdict verdict = NodeMessageDescriptor.verdict(answer);
        NodeMessageKind kind = NodeMessageDescriptor.kind(answer);
        if (kind != expected() || !awaited.remove(machine)) {
            return;
        }
        if (verdict != NodeVerdict.DONE && reason.isEmpty()) {
            reason = kind + " at machine " + machine + ": " + verdict;
        }
        if (phase == Phase.COMMITTING && verdict == NodeVerdict.DONE) {
            told = Told.COMMITTED;
        }
        if (awaited.isEmpty()) {
            next();
        }
    }

    private NodeMessageKind expected() {
        return switch (phase) {
            case PREPARING -> NodeMessageKind.PREPARE;
            case VALIDATING -> NodeMessageKind.VALIDATE;
            case COMMITTING -> NodeMessageKind.COMMIT_PRIMARY;
            case NEW, ABORTING, OVER -> NodeMessageKind.ABORT;
        };
    }

    private void next() {
        switch (phase) {
            case PREPARING -> {
                if (reason.isEmpty()) {
                    validate();
                } else {
                    abort();
                }
            }
            case VALIDATING -> {
                if (reason.isEmpty()) {
                    commit();
                } else {
                    abort();
                }
            }
            case NEW, COMMITTING, ABORTING, OVER -> phase = Phase.OVER;
        }
    }

    private void validate() {
        if (reads.isEmpty()) {
            commit();
            return;
        }
        phase = Phase.VALIDATING;
        awaited.addAll(reads.keySet());
        reads.forEach((machine, versions) -> sender.send(machine, TransactionMessages.validate(id, versions)));
    }

    private void commit() {
        if (writes.isEmpty()) {
            told = Told.COMMITTED;
            phase = Phase.OVER;
            return;
        }
        phase = Phase.COMMITTING;
        decide(NodeMessageKind.COMMIT_PRIMARY);
    }

    private void abort() {
        told = Told.ABORTED;
        phase = Phase.ABORTING;
        decide(NodeMessageKind.ABORT);
    }

    private void decide(NodeMessageKind kind) {
        awaited.addAll(writes.keySet());
        if (awaited.isEmpty()) {
            phase = Phase.OVER;
        }
        List.copyOf(writes.keySet()).forEach(machine -> sender.send(machine, TransactionMessages.decision(kind, id)));
    }
}
