package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;

/**
 * The commit of one transaction of several machines. One message a machine and phase, each with an answer:
 *
 * <ol>
 *   <li><b>PREPARE</b> to primaries and replicas of what is written: primaries lock it, if it is of the version that was
 *       read; replicas keep it.
 *   <li><b>VALIDATE</b> to the primaries of what was only read: it has still that version, and no lock. After the locks,
 *       because then no other transaction can commit in between without being seen by one of the two.
 *   <li>The decision. From here on it commits, however long that takes.
 *   <li><b>COMMIT_REPLICA</b>: they write. Before the primaries, because what a primary shows must not be lost with it.
 *   <li><b>COMMIT_PRIMARY</b>: they write and unlock. With the first answer the application is told, not earlier: when only
 *       replicas have it, the loss of one machine can turn commit into abort. The other primaries are still locked, so
 *       nobody can see old values.
 *   <li>When all have answered, the transaction is over everywhere.
 * </ol>
 *
 * <p>A refusal in 1 or 2 leads to <b>ABORT</b> to all who were asked to prepare, once all of these have answered: an abort
 * must not overtake the prepare. No socket, no clock. The node's thread.
 */
public final class Coordinator {
    /** How far it is. */
    public enum Phase {
        /** Nothing is sent. */
        NEW,
        /** Primaries lock, replicas keep. */
        PREPARING,
        /** Primaries look at what was read. */
        VALIDATING,
        /** It is decided, replicas write. */
        COMMITTING_REPLICAS,
        /** Primaries write. */
        COMMITTING_PRIMARIES,
        /** All give up what they have prepared. */
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
        ABORTED,
        /** Nobody knows. */
        UNKNOWN
    }

    /** Sends messages. */
    @FunctionalInterface
    public interface Sender {
        /** Sends one; its answer comes to {@link Coordinator#onAnswer}, perhaps at once. */
        void send(int machine, ByteBuffer message);
    }

    private static final List<Phase> ORDER = List.of(
            Phase.PREPARING, Phase.VALIDATING, Phase.COMMITTING_REPLICAS, Phase.COMMITTING_PRIMARIES, Phase.OVER);

    private final TxId id;
    private final Sender sender;
    private final SortedMap<Integer, ByteBuffer> prepares = new TreeMap<>();
    private final SortedMap<Integer, ByteBuffer> validations = new TreeMap<>();
    private final SortedSet<Integer> replicas = new TreeSet<>();
    private final SortedSet<Integer> primaries = new TreeSet<>();
    private final SortedSet<Integer> awaited = new TreeSet<>();
    private Phase phase = Phase.NEW;
    private Told told = Told.NOTHING;
    private String reason = "";

    /**
     * A commit that has not begun.
     *
     * @param id of the transaction
     * @param written what it writes
     * @param read what it only reads
     * @param placements which machines have each region; none of these is lost
     * @param sender of its messages
     */
    public Coordinator(
            TxId id,
            List<WriteEntry> written,
            List<ObjectVersion> read,
            IntFunction<RegionPlacement> placements,
            Sender sender) {
        this.id = id;
        this.sender = sender;
        SortedSet<Integer> regions = new TreeSet<>();
        Map<Integer, List<WriteEntry>> writes = new TreeMap<>();
        for (WriteEntry entry : written) {
            int region = FarmAddress.region(entry.address());
            RegionPlacement placement = placements.apply(region);
            regions.add(region);
            for (int machine : placement.machines()) {
                writes.computeIfAbsent(machine, any -> new ArrayList<>()).add(entry);
                (machine == placement.primary() ? primaries : replicas).add(machine);
            }
        }
        writes.forEach((machine, entries) -> prepares.put(machine, TransactionMessages.prepare(id, regions, entries)));
        Map<Integer, List<ObjectVersion>> reads = new TreeMap<>();
        for (ObjectVersion version : read) {
            int primary =
                    placements.apply(FarmAddress.region(version.address())).primary();
            reads.computeIfAbsent(primary, any -> new ArrayList<>()).add(version);
        }
        reads.forEach((machine, versions) -> validations.put(machine, TransactionMessages.validate(id, versions)));
    }

    /** Bytes of its longest message. */
    public int longestMessage() {
        int longest = 0;
        for (ByteBuffer message : prepares.values()) {
            longest = Math.max(longest, message.limit());
        }
        for (ByteBuffer message : validations.values()) {
            longest = Math.max(longest, message.limit());
        }
        return longest;
    }

    /** Begins. */
    public void begin() {
        enter(ORDER.getFirst());
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

    /** Sends the messages of a phase, or those of the next one if it has none. */
    private void enter(Phase next) {
        phase = next;
        awaited.addAll(machines(next));
        if (next == Phase.OVER) {
            if (told == Told.NOTHING) {
                told = Told.COMMITTED; // it writes nothing
            }
        } else if (awaited.isEmpty()) {
            enter(following(next));
        } else {
            // The last of them may be this machine, which answers at once.
            List.copyOf(awaited).forEach(machine -> sender.send(machine, message(next, machine)));
        }
    }

    private Set<Integer> machines(Phase of) {
        return switch (of) {
            case PREPARING, ABORTING -> prepares.keySet();
            case VALIDATING -> validations.keySet();
            case COMMITTING_REPLICAS -> replicas;
            case COMMITTING_PRIMARIES -> primaries;
            case NEW, OVER -> Set.of();
        };
    }

    private ByteBuffer message(Phase of, int machine) {
        return switch (of) {
            case PREPARING -> Objects.requireNonNull(prepares.get(machine));
            case VALIDATING -> Objects.requireNonNull(validations.get(machine));
            case NEW, COMMITTING_REPLICAS, COMMITTING_PRIMARIES, ABORTING, OVER ->
                TransactionMessages.decision(kind(of), id);
        };
    }

    private static NodeMessageKind kind(Phase of) {
        return switch (of) {
            case PREPARING -> NodeMessageKind.PREPARE;
            case VALIDATING -> NodeMessageKind.VALIDATE;
            case COMMITTING_REPLICAS -> NodeMessageKind.COMMIT_REPLICA;
            case COMMITTING_PRIMARIES -> NodeMessageKind.COMMIT_PRIMARY;
            case NEW, ABORTING, OVER -> NodeMessageKind.ABORT;
        };
    }

    private static Phase following(Phase of) {
        return of == Phase.ABORTING ? Phase.OVER : ORDER.get(ORDER.indexOf(of) + 1);
    }

    /**
     * An answer to a message of this phase.
     *
     * @param machine which answers
     * @param answer of it
     */
    public void onAnswer(int machine, ByteBuffer answer) {
        if (NodeMessageDescriptor.kind(answer) != kind(phase) || !awaited.contains(machine)) {
            return;
        }
        NodeVerdict verdict = NodeMessageDescriptor.verdict(answer);
        if (verdict != NodeVerdict.DONE && reason.isEmpty()) {
            reason = kind(phase) + " at machine " + machine + ": " + verdict;
        }
        if (verdict != NodeVerdict.DONE && isDecided()) {
            told = told == Told.NOTHING ? Told.UNKNOWN : told; // it breaks the protocol: never over
            return;
        }
        awaited.remove(machine);
        if (phase == Phase.COMMITTING_PRIMARIES) {
            told = Told.COMMITTED;
        }
        if (haveAllAnswered()) {
            next();
        }
    }

    private boolean haveAllAnswered() {
        return awaited.isEmpty();
    }

    private boolean isDecided() {
        return phase == Phase.COMMITTING_REPLICAS || phase == Phase.COMMITTING_PRIMARIES;
    }

    private void next() {
        if (!reason.isEmpty() && (phase == Phase.PREPARING || phase == Phase.VALIDATING)) {
            told = Told.ABORTED;
            enter(Phase.ABORTING);
        } else {
            enter(following(phase));
        }
    }
}
