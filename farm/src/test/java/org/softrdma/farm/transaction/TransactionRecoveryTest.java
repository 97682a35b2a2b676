package org.softrdma.farm.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ObjectWriter;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.stores.MemorySteps;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What machines decide of transactions that an epoch has interrupted, message by message. Five machines; X and Y are objects
 * of two regions; the coordinator has none of them.
 */
class TransactionRecoveryTest {
    private static final int COORDINATOR = 4;
    private static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + Long.BYTES;
    private static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final long X = FarmAddress.of(7, 1024);
    private static final long Y = FarmAddress.of(8, 1024);
    private static final long LOCKED = -1;
    private static final TxId ID = new TxId(1, COORDINATOR, 1);

    /** A message under way. */
    private record Letter(int from, int to, ByteBuffer message, Consumer<ByteBuffer> onAnswer) {
        NodeMessageKind kind() {
            return NodeMessageDescriptor.kind(message);
        }

        @Override
        public String toString() {
            return kind() + " " + from + " to " + to;
        }
    }

    private static final class Machine {
        private final FarmSpace space;
        private final Participant participant;
        private final TransactionRecovery recovery;

        Machine(FarmSpace space, Participant participant, TransactionRecovery recovery) {
            this.space = space;
            this.participant = participant;
            this.recovery = recovery;
        }
    }

    private final Map<Integer, Machine> machines = new TreeMap<>();
    private final Deque<Letter> letters = new ArrayDeque<>();
    private final List<String> delivered = new ArrayList<>();
    private final List<Coordinator.Told> told = new ArrayList<>();
    private int epoch;

    private interface Body {
        void run();
    }

    /** Five machines in epoch 1. */
    private void run(RegionPlacement x, RegionPlacement y, Body body) {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("all");
        fabric.run(node, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    ProtectionDomain domain = device.allocateProtectionDomain()) {
                for (int machine = 0; machine <= COORDINATOR; machine++) {
                    int number = machine;
                    FarmSpace space = new FarmSpace(
                            device, domain, new SpaceShape(1 << 14, 1 << 10, true), MemorySteps.OF_JVM, machine);
                    Participant participant = new Participant(space);
                    TransactionRecovery recovery = new TransactionRecovery(
                            machine,
                            space,
                            participant,
                            (to, message, onAnswer) -> letters.add(new Letter(number, to, message, onAnswer)));
                    machines.put(machine, new Machine(space, participant, recovery));
                }
                epoch(x, y);
                machines.values().forEach(machine -> machine.space.locksRecovered());
                machine(COORDINATOR).recovery.begins(ID, told::add);
                body.run();
                CloseHelper.closeAll(
                        machines.values().stream().map(it -> it.space).toList());
            }
        });
    }

    private Machine machine(int number) {
        return Objects.requireNonNull(machines.get(number));
    }

    private void kill(int number) {
        CloseHelper.close(Objects.requireNonNull(machines.remove(number)).space);
    }

    /** The next epoch is active; what was under way is lost. */
    private void epoch(RegionPlacement x, RegionPlacement y) {
        letters.clear();
        FarmConfiguration next = new FarmConfiguration(
                ++epoch, 0, COORDINATOR, 0, new TreeSet<>(machines.keySet()), new TreeMap<>(Map.of(7, x, 8, y)));
        machines.values().forEach(machine -> {
            machine.space.onConfiguration(next);
            machine.recovery.onEpoch();
        });
        machines.values().forEach(machine -> machine.recovery.begin());
    }

    /** Delivers messages as long as the next one is of this kind. */
    private void deliver(Predicate<Letter> wanted) {
        while (!letters.isEmpty() && wanted.test(letters.peek())) {
            Letter letter = letters.remove();
            delivered.add(letter.toString());
            machine(letter.to).recovery.onMessage(letter.from, letter.message, answer -> {
                NodeMessageDescriptor.answers(answer, letter.message);
                letter.onAnswer.accept(answer);
            });
        }
    }

    /** Delivers messages of this kind, also before those that were sent earlier. */
    private void deliverOnly(Predicate<Letter> wanted) {
        for (List<Letter> next = letters.stream().filter(wanted).toList();
                !next.isEmpty();
                next = letters.stream().filter(wanted).toList()) {
            Letter letter = next.getFirst();
            boolean removed = letters.remove(letter);
            assertTrue(removed);
            letters.addFirst(letter);
            deliver(first -> first == letter);
        }
    }

    private void deliverAll() {
        deliver(letter -> true);
    }

    private static WriteEntry entry(long address, long version, long value) {
        ObjectImage image = new ObjectImage();
        image.reset(LENGTH, version);
        image.putLong(VALUE, value);
        return new WriteEntry(address, WriteEntry.Change.WRITE, image);
    }

    private void prepare(TxId id, int machine, WriteEntry... entries) {
        done(machine, TransactionMessages.prepare(id, List.of(7, 8), List.of(entries)));
    }

    private void commit(NodeMessageKind kind, TxId id, int machine) {
        done(machine, TransactionMessages.decision(kind, id));
    }

    private void done(int machine, ByteBuffer message) {
        assertEquals(
                NodeVerdict.DONE,
                NodeMessageDescriptor.verdict(machine(machine).participant.onMessage(message)));
    }

    /** The value of an object at a machine, or {@link #LOCKED}. */
    private long look(int machine, long address) {
        long offset = FarmAddress.offset(address);
        ObjectWriter writer = Objects.requireNonNull(machine(machine).space.region(FarmAddress.region(address)))
                .writer();
        ObjectImage image = new ObjectImage();
        writer.load(offset, LENGTH, image);
        return (writer.version(offset) & FarmObjectDescriptor.LOCK_MASK) == 0 ? image.getLong(VALUE) : LOCKED;
    }

    private static RegionPlacement placement(int primary, Integer... replicas) {
        return new RegionPlacement(primary, List.of(replicas), List.of());
    }

    private void prepareBoth() {
        prepare(ID, 0, entry(X, 0, 5));
        prepare(ID, 1, entry(X, 0, 5));
        prepare(ID, 2, entry(Y, 0, 5));
        prepare(ID, 3, entry(Y, 0, 5));
    }

    /** Only a replica has the commit: the others have to follow, because a reader may have seen it, or the application. */
    @Test
    void shouldCommitWhatAnyMachineHasCommitted() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepareBoth();
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 1);
            kill(0);
            epoch(placement(1), placement(2, 3));
            deliverAll();

            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
            assertEquals(List.of(5L, 5L, 5L), List.of(look(1, X), look(2, Y), look(3, Y)));
        });
    }

    /** It may have been aborted, and what it has read may have changed since. */
    @Test
    void shouldAbortWhatAllHavePreparedAndNobodyHasCommitted() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepareBoth();
            epoch(placement(0, 1), placement(2, 3));
            deliverAll();

            assertEquals(List.of(Coordinator.Told.ABORTED), told);
            assertEquals(List.of(0L, 0L, 0L, 0L), List.of(look(0, X), look(1, X), look(2, Y), look(3, Y)));
            machines.values().forEach(machine -> assertEquals(0, machine.participant.records()));
        });
    }

    /** What a primary shows must not be lost with it, nor what the application was told. */
    @Test
    void shouldDecideAtReplicasFirstAndTellWhenAllHaveTheDecision() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepareBoth();
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 1);
            epoch(placement(0, 1), placement(2, 3));
            deliver(letter -> letter.kind() == NodeMessageKind.IN_DOUBT || letter.kind() == NodeMessageKind.RECOVERED);

            assertEquals("[DECIDE_REPLICA 4 to 1, DECIDE_REPLICA 4 to 3]", letters.toString());
            deliver(letter -> letter.kind() != NodeMessageKind.DECIDE_PRIMARY);
            assertEquals("[DECIDE_PRIMARY 4 to 0, DECIDE_PRIMARY 4 to 2]", letters.toString());
            assertEquals(List.of(5L, 5L, LOCKED), List.of(look(1, X), look(3, Y), look(0, X)));
            deliver(letter -> letter.to == 0);
            assertEquals(List.of(), told);
            deliverAll();
            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
        });
    }

    /** Of what a machine has decided the next epoch may be the judge. */
    @Test
    void shouldDecideTheSameWhenTheNextEpochComesInTheMiddle() {
        run(placement(0, 1, 2), placement(2, 3, 0), () -> {
            List.of(0, 2).forEach(machine -> prepare(ID, machine, entry(X, 0, 5), entry(Y, 0, 5)));
            prepare(ID, 1, entry(X, 0, 5));
            prepare(ID, 3, entry(Y, 0, 5));
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 1);
            epoch(placement(0, 1, 2), placement(2, 3, 0));
            deliver(letter -> letter.kind() != NodeMessageKind.DECIDE_REPLICA || letter.to < 2);
            kill(1);
            epoch(placement(0, 2), placement(2, 3, 0));
            deliverAll();

            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
            assertEquals(List.of(5L, 5L, 5L, 5L), List.of(look(0, X), look(2, X), look(2, Y), look(3, Y)));
        });
    }

    @Test
    void shouldRecoverAtThePrimaryOfTheLowestRegionWhatADeadMachineHasBegun() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepare(ID, 2, entry(Y, 0, 5));
            kill(COORDINATOR);
            epoch(placement(0, 1), placement(2, 3));
            assertEquals(LOCKED, look(2, Y));
            deliverAll();

            assertTrue(delivered.contains("IN_DOUBT 2 to 0"), delivered.toString());
            assertTrue(delivered.contains("DECIDE_PRIMARY 0 to 2"), delivered.toString());
            assertEquals(0, look(2, Y));
        });
    }

    @Test
    void shouldTellThatItIsAbortedWhenNobodyHasARecord() {
        run(placement(0, 1), placement(2, 3), () -> {
            epoch(placement(0, 1), placement(2, 3));
            assertEquals(List.of(), told);
            deliverAll();

            assertEquals(List.of(Coordinator.Told.ABORTED), told);
        });
    }

    /** All that knew whether it was committed are gone. */
    @Test
    void shouldTellThatNobodyKnowsWhenARegionIsLost() {
        run(placement(0), placement(2, 3), () -> {
            prepareWithoutReplicaOfX();
            kill(0);
            epoch(RegionPlacement.NOWHERE, placement(2, 3));
            deliverAll();

            assertEquals(List.of(Coordinator.Told.UNKNOWN), told);
            assertEquals(List.of(0L, 0L), List.of(look(2, Y), look(3, Y)));
        });
    }

    private void prepareWithoutReplicaOfX() {
        prepare(ID, 0, entry(X, 0, 5));
        prepare(ID, 2, entry(Y, 0, 5));
        prepare(ID, 3, entry(Y, 0, 5));
    }

    // ---- locks

    /** Its own record may be gone already, or may never have come. */
    @Test
    void shouldServeARegionOnlyWhenItHasLockedWhatOthersHaveInDoubt() {
        run(placement(0, 1, 3), placement(2), () -> {
            prepare(ID, 0, entry(X, 0, 5));
            prepare(ID, 3, entry(X, 0, 5));
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 3);
            kill(0);
            epoch(placement(1, 3), placement(2));
            assertFalse(machine(1).space.serves(7));
            assertTrue(machine(2).space.serves(8));
            deliver(letter -> letter.from != 3 || letter.to != 1 || letter.kind() != NodeMessageKind.IN_DOUBT);
            assertFalse(machine(1).space.serves(7));
            deliver(letter -> letter.kind() == NodeMessageKind.IN_DOUBT);

            assertTrue(machine(1).space.serves(7));
            assertEquals(LOCKED, look(1, X));
            deliverAll();
            assertEquals(5, look(1, X));
            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
        });
    }

    /** Another replica has committed it, and dies next: the heir must know that, as its decision is not out yet. */
    @Test
    void shouldTakeOverACommitAsACommit() {
        run(placement(0, 1, 3), placement(2), () -> {
            prepare(ID, 0, entry(X, 0, 5));
            prepare(ID, 1, entry(X, 0, 5));
            prepare(ID, 3, entry(X, 0, 5));
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 3);
            kill(0);
            epoch(placement(1, 3), placement(2));
            deliver(letter -> letter.kind() == NodeMessageKind.IN_DOUBT);
            kill(3);
            epoch(placement(1), placement(2));
            deliverAll();

            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
            assertEquals(5, look(1, X));
        });
    }

    /** It is committed here, and perhaps not yet elsewhere: who reads it here and then the other sees half of it. */
    @Test
    void shouldLockAlsoWhatIsCommitted() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepareBoth();
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 1);
            kill(0);
            epoch(placement(1), placement(2, 3));
            deliver(letter -> letter.kind() == NodeMessageKind.IN_DOUBT);

            assertTrue(machine(1).space.serves(7));
            assertEquals(List.of(LOCKED, LOCKED), List.of(look(1, X), look(2, Y)));
        });
    }

    /** The region was elsewhere meanwhile, and others were in doubt there. */
    @Test
    void shouldRecoverLocksEachTimeItBecomesPrimary() {
        run(placement(0, 1), placement(2, 3), () -> {
            assertTrue(machine(0).space.serves(7));
            epoch(placement(1, 0), placement(2, 3));
            deliverAll();
            assertFalse(machine(0).space.serves(7));
            assertTrue(machine(1).space.serves(7));
            epoch(placement(0, 1), placement(2, 3));
            assertFalse(machine(0).space.serves(7));
            deliverAll();
            assertTrue(machine(0).space.serves(7));
        });
    }

    /** Of two that want the same object at most one can commit, but both have records at the replica. */
    @Test
    void shouldKeepAnObjectLockedWhenTheFirstThatIsInDoubtAborts() {
        run(placement(0, 1), placement(2, 3), () -> {
            recoverTwoThatWantX(NodeMessageKind.COMMIT_REPLICA, 1);
            deliverOnly(letter -> letter.from == 3);
            assertEquals(LOCKED, look(1, X));
            deliverAll();
            assertEquals(5, look(1, X));
        });
    }

    @Test
    void shouldKeepAnObjectLockedWhenTheFirstThatIsInDoubtCommits() {
        run(placement(0, 1), placement(2, 3), () -> {
            recoverTwoThatWantX(NodeMessageKind.COMMIT_REPLICA, 3);
            deliverOnly(letter -> letter.from == COORDINATOR);
            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
            assertEquals(LOCKED, look(1, X));
            deliverAll();
            assertEquals(5, look(1, X));
        });
    }

    /** One of them has committed at one machine; the other one has only a record at X's replica, which becomes primary. */
    private void recoverTwoThatWantX(NodeMessageKind kind, int committed) {
        prepareBoth();
        prepare(new TxId(1, 3, 1), 1, entry(X, 0, 6));
        commit(kind, ID, committed);
        kill(0);
        epoch(placement(1), placement(2, 3));
        deliverOnly(letter -> letter.kind() == NodeMessageKind.IN_DOUBT);
        assertEquals(LOCKED, look(1, X));
    }

    // ---- transactions of one machine

    /** A replica that a RECORD has not reached gets it with the decision, and knows that it is committed. */
    @Test
    void shouldGiveAReplicaWhatItLacks() {
        run(placement(0, 1, 3), placement(0, 1, 3), () -> {
            ByteBuffer ship = SingleMachineCommits.ship(ID, List.of(entry(X, 0, 5), entry(Y, 0, 6)), List.of(), 0);
            SingleMachineCommits commits =
                    new SingleMachineCommits(machine(0).space, machine(0).participant, (id, to, message) -> {});
            commits.onShip(ship, answer -> {});
            done(1, TransactionMessages.record(ship));
            commits.onEpoch();
            epoch(placement(0, 1, 3), placement(0, 1, 3));
            assertEquals(LOCKED, look(0, X)); // readers are admitted no more
            deliver(letter -> letter.kind() != NodeMessageKind.DECIDE_PRIMARY);
            assertEquals(List.of(5L, 6L), List.of(look(3, X), look(3, Y)));

            kill(1);
            epoch(placement(0, 3), placement(0, 3));
            deliverAll();
            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
            assertEquals(List.of(5L, 6L), List.of(look(0, X), look(0, Y)));
        });
    }

    // ---- the end

    @Test
    void shouldForgetRecordsWhenAllHaveRecovered() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepareBoth();
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 1);
            kill(COORDINATOR);
            epoch(placement(0, 1), placement(2, 3));
            deliver(letter -> letter.kind() != NodeMessageKind.RECOVERED || letter.from != 0);
            machines.values().forEach(machine -> assertEquals(1, machine.participant.records()));
            assertFalse(machine(2).recovery.isOver());
            deliverAll();

            machines.values().forEach(machine -> assertEquals(0, machine.participant.records()));
            machines.values().forEach(machine -> assertTrue(machine.recovery.isOver()));
        });
    }

    /** It does not know its own locks yet, and has not said what it has. */
    @Test
    void shouldLetADecisionWaitUntilAllIsHeard() {
        run(placement(0, 1), placement(2, 3), () -> {
            prepareBoth();
            commit(NodeMessageKind.COMMIT_REPLICA, ID, 3);
            epoch(placement(0, 1), placement(2, 3));
            List<Letter> late = letters.stream()
                    .filter(letter -> letter.from == 2 && letter.to == 1)
                    .toList();
            letters.removeAll(late);
            deliverAll();
            assertTrue(delivered.contains("DECIDE_REPLICA 4 to 1"), delivered.toString());
            assertEquals(0, look(1, X));
            assertEquals(List.of(), told);
            letters.addAll(late);
            deliverAll();

            assertEquals(5, look(1, X));
            assertEquals(List.of(Coordinator.Told.COMMITTED), told);
        });
    }
}
