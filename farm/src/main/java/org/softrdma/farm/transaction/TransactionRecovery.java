package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;

/**
 * Decides what an epoch has interrupted. A transaction of an older epoch of which any machine has a record is <b>in
 * doubt</b>; records do not change any more, because nobody takes messages of an older epoch. When an epoch is active:
 *
 * <ol>
 *   <li><b>IN_DOUBT</b>: each member sends each of its records to who recovers the transaction, and to the primaries of what
 *       is written there; then to every member that this was all. Who recovers it is the transaction's own machine, or the
 *       primary of its lowest region if that is no member any more.
 *   <li>When a member has heard all of that, it locks what is in doubt in regions that it has become primary of, also what is
 *       committed there, and serves them.
 *   <li>A transaction commits if any machine has committed anything of it, else it aborts. <b>DECIDE_REPLICA</b> to all
 *       replicas, which are told what they lack; then <b>DECIDE_PRIMARY</b>. Only when all have answered is the application
 *       told: until then the next loss of a machine may leave nobody who knows.
 *   <li><b>RECOVERED</b> to all, when a member has nothing more to decide. Who has heard that of all forgets all records of
 *       older epochs, and finds out what is free in the regions that it serves.
 * </ol>
 *
 * <p>The next epoch may come at any moment: then it begins again, with the records as they are; decisions are records. A
 * decision that comes to a member before 2 waits there. No socket, no clock. The node's thread.
 */
public final class TransactionRecovery {
    /** Nothing can be in doubt in it. */
    private static final int FIRST_EPOCH = 1;

    private final int machine;
    private final FarmSpace space;
    private final Participant participant;
    private final Sender sender;
    /** Commits of this machine that are not over, and who is told when they are recovered. */
    private final Map<TxId, Consumer<Coordinator.Told>> own = new HashMap<>();
    // ---- of the epoch that this machine has learnt
    private FarmConfiguration configuration = FarmConfiguration.NONE;
    private boolean begun;
    private boolean heard;
    private boolean announced;
    private final SortedSet<Integer> unheard = new TreeSet<>();
    private final SortedSet<Integer> unrecovered = new TreeSet<>();
    private final Map<TxId, Doubt> doubts = new HashMap<>();
    private final List<Runnable> early = new ArrayList<>();

    /** Sends messages. */
    @FunctionalInterface
    public interface Sender {
        /** Sends one, perhaps to this machine; its answer comes to the handler, unless an epoch comes before it. */
        void send(int machine, ByteBuffer message, Consumer<ByteBuffer> onAnswer);
    }

    /** A transaction that this machine recovers, or of which it hears as primary. */
    private static final class Doubt {
        private final TxId id;
        private final SortedSet<Integer> regions;
        private final Map<Long, WriteEntry> entries = new TreeMap<>();
        private final Map<Integer, Set<Long>> known = new HashMap<>();
        private final SortedSet<Integer> awaited = new TreeSet<>();
        private boolean commits;
        private boolean isComplete = true;

        Doubt(TxId id, List<Integer> regions) {
            this.id = id;
            this.regions = new TreeSet<>(regions);
        }

        void reported(int by, List<ReportedWrite> writes) {
            Set<Long> addresses = known.computeIfAbsent(by, any -> new HashSet<>());
            for (ReportedWrite write : writes) {
                WriteEntry ignored = entries.putIfAbsent(write.entry().address(), write.entry());
                addresses.add(write.entry().address());
                commits |= write.isCommitted();
            }
        }
    }

    /**
     * Nothing to recover.
     *
     * @param machine this one
     * @param space of this machine
     * @param participant of this machine
     * @param sender of messages
     */
    public TransactionRecovery(int machine, FarmSpace space, Participant participant, Sender sender) {
        this.machine = machine;
        this.space = space;
        this.participant = participant;
        this.sender = sender;
    }

    // ---- this machine's own

    /**
     * A commit of this machine begins.
     *
     * @param id of the transaction
     * @param onRecovered is told what came of it, if an epoch interrupts it
     */
    public void begins(TxId id, Consumer<Coordinator.Told> onRecovered) {
        own.put(id, onRecovered);
    }

    /** It is over everywhere. */
    public void over(TxId id) {
        own.remove(id);
    }

    // ---- the epoch

    /** An epoch was learnt, and the space and the participant have its configuration. */
    public void onEpoch() {
        participant.onEpoch();
        configuration = space.configuration();
        begun = false;
        heard = false;
        announced = false;
        doubts.clear();
        early.clear();
        unheard.clear();
        unheard.addAll(configuration.members());
        unrecovered.clear();
        unrecovered.addAll(configuration.members());
    }

    /** True once all transactions of older epochs are over everywhere. */
    public boolean isOver() {
        return configuration.epoch() <= FIRST_EPOCH || unrecovered.isEmpty();
    }

    /** The epoch is active: it may begin. To be called again and again; returns 1 if that was the first time. */
    public int begin() {
        if (begun || configuration.epoch() <= FIRST_EPOCH) {
            return 0;
        }
        begun = true;
        participant.inDoubt(configuration.epoch()).forEach(this::report);
        for (int member : configuration.members()) {
            send(member, TransactionMessages.nothingMoreInDoubt(), answer -> {});
        }
        return 1;
    }

    private void send(int to, ByteBuffer message, Consumer<ByteBuffer> onAnswer) {
        sender.send(to, message, onAnswer);
    }

    private void report(TxId id, TransactionRecord found) {
        List<ReportedWrite> writes = new ArrayList<>();
        SortedSet<Integer> receivers = new TreeSet<>(Set.of(recoverer(id, found.regions())));
        for (TransactionRecord.Write write : found.writes()) {
            writes.add(new ReportedWrite(write.entry(), write.isCommitted()));
            receivers.add(configuration.primary(FarmAddress.region(write.address())));
        }
        receivers.remove(RegionPlacement.LOST);
        for (int receiver : receivers) {
            send(receiver, TransactionMessages.inDoubt(id, found.regions(), writes), answer -> {});
        }
    }

    /** Who decides a transaction. If all of its regions are lost, that is nobody. */
    private int recoverer(TxId id, Iterable<Integer> regions) {
        if (configuration.members().contains(id.machine())) {
            return id.machine();
        }
        SortedSet<Integer> left = new TreeSet<>();
        for (int region : regions) {
            if (configuration.primary(region) != RegionPlacement.LOST) {
                left.add(region);
            }
        }
        return left.isEmpty() ? RegionPlacement.LOST : configuration.primary(left.first());
    }

    // ---- what comes

    /**
     * A request of recovery comes. It may come twice.
     *
     * @param from which member
     * @param message IN_DOUBT, RECOVERED, DECIDE_REPLICA or DECIDE_PRIMARY
     * @param reply takes the answer, at once or later; never, if an epoch comes before it
     */
    public void onMessage(int from, ByteBuffer message, Consumer<ByteBuffer> reply) {
        if (!TransactionMessages.isValid(message)) {
            reply.accept(NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0));
        } else if (NodeMessageDescriptor.kind(message) == NodeMessageKind.IN_DOUBT) {
            reply.accept(NodeMessageDescriptor.answer(onInDoubt(from, message), 0));
        } else if (NodeMessageDescriptor.kind(message) == NodeMessageKind.RECOVERED) {
            reply.accept(NodeMessageDescriptor.answer(NodeVerdict.DONE, 0));
            onRecovered(from);
        } else if (heard) {
            reply.accept(participant.onMessage(message));
        } else {
            early.add(() -> reply.accept(participant.onMessage(message)));
        }
    }

    private NodeVerdict onInDoubt(int from, ByteBuffer message) {
        WriteSet writes = TransactionMessages.writes(message);
        if (!unheard.contains(from)) {
            return NodeVerdict.DONE; // again
        }
        if (writes.regions().isEmpty()) {
            unheard.remove(from);
            if (unheard.isEmpty()) {
                recover();
            }
            return NodeVerdict.DONE;
        }
        if (writes.entries().isEmpty()) {
            return NodeVerdict.REFUSED;
        }
        TxId id = TransactionMessages.id(message);
        List<ReportedWrite> reported = TransactionMessages.reported(message, writes);
        doubts.computeIfAbsent(id, any -> new Doubt(id, writes.regions())).reported(from, reported);
        if (from != machine) {
            reported.forEach(write -> participant.adopt(id, writes.regions(), write));
        }
        return NodeVerdict.DONE;
    }

    // ---- decisions

    private void recover() {
        participant.recoverLocks(configuration.epoch());
        space.locksRecovered();
        heard = true;
        List.copyOf(early).forEach(Runnable::run);
        early.clear();
        doubts.values().removeIf(doubt -> recoverer(doubt.id, doubt.regions) != machine);
        own.keySet().stream()
                .filter(id -> id.epoch() < configuration.epoch() && !doubts.containsKey(id))
                .toList()
                .forEach(id -> tell(id, Coordinator.Told.ABORTED)); // nobody has a record of it
        List.copyOf(doubts.values()).forEach(doubt -> decide(doubt, false));
        announce();
    }

    /** Sends a decision to all replicas, then to all primaries. */
    private void decide(Doubt doubt, boolean isSecond) {
        boolean asPrimary = isSecond;
        NodeMessageKind kind = asPrimary ? NodeMessageKind.DECIDE_PRIMARY : NodeMessageKind.DECIDE_REPLICA;
        Map<Integer, ByteBuffer> messages = new TreeMap<>();
        for (int region : doubt.regions) {
            RegionPlacement placement = configuration.regions().get(region);
            if (placement == null || placement.isLost()) {
                doubt.isComplete = false;
                continue;
            }
            for (int to : asPrimary ? List.of(placement.primary()) : replicas(doubt, placement)) {
                ByteBuffer ignored = messages.computeIfAbsent(
                        to,
                        any -> TransactionMessages.decision(
                                kind,
                                doubt.id,
                                doubt.commits,
                                List.copyOf(doubt.regions),
                                lacking(doubt, to, asPrimary)));
            }
        }
        doubt.awaited.addAll(messages.keySet());
        messages.forEach((to, message) -> send(to, message, answer -> onDecided(doubt, isSecond, to, answer)));
        if (messages.isEmpty()) {
            next(doubt, isSecond);
        }
    }

    /** Copies that have no record of it will copy what it has written, as they begin when it is over. */
    private static List<Integer> replicas(Doubt doubt, RegionPlacement placement) {
        List<Integer> machines = new ArrayList<>(placement.replicas());
        placement.copies().stream().filter(doubt.known::containsKey).forEach(machines::add);
        return machines;
    }

    /** What a machine does not have of what it is to write in a role. */
    private List<WriteEntry> lacking(Doubt doubt, int to, boolean asPrimary) {
        List<WriteEntry> lacking = new ArrayList<>();
        Set<Long> known = doubt.known.getOrDefault(to, Set.of());
        for (WriteEntry entry : doubt.commits ? doubt.entries.values() : List.<WriteEntry>of()) {
            @Nullable RegionPlacement placement = configuration.regions().get(FarmAddress.region(entry.address()));
            if (placement != null
                    && !known.contains(entry.address())
                    && (asPrimary
                            ? placement.primary() == to
                            : placement.replicas().contains(to))) {
                lacking.add(entry);
            }
        }
        return lacking;
    }

    private void onDecided(Doubt doubt, boolean isSecond, int from, ByteBuffer answer) {
        if (NodeMessageDescriptor.verdict(answer) != NodeVerdict.DONE) {
            doubt.isComplete = false; // it breaks the protocol
        }
        if (doubt.awaited.remove(from) && doubt.awaited.isEmpty()) {
            next(doubt, isSecond);
        }
    }

    private void next(Doubt doubt, boolean wasSecond) {
        if (!wasSecond) {
            decide(doubt, true);
            return;
        }
        Coordinator.Told outcome = doubt.commits ? Coordinator.Told.COMMITTED : Coordinator.Told.ABORTED;
        doubts.remove(doubt.id);
        tell(doubt.id, doubt.isComplete || doubt.commits ? outcome : Coordinator.Told.UNKNOWN);
        announce();
    }

    private void tell(TxId id, Coordinator.Told outcome) {
        Consumer<Coordinator.Told> waits = own.remove(id);
        if (waits != null) {
            waits.accept(outcome);
        }
    }

    private void announce() {
        if (heard && !announced && doubts.isEmpty()) {
            announced = true;
            for (int member : configuration.members()) {
                send(member, NodeMessageDescriptor.request(NodeMessageKind.RECOVERED, 0), answer -> {});
            }
        }
    }

    private void onRecovered(int from) {
        if (unrecovered.remove(from) && unrecovered.isEmpty()) {
            participant.recovered(configuration.epoch());
            space.transactionsRecovered();
        }
    }
}
