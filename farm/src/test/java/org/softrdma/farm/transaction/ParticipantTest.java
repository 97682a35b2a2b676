package org.softrdma.farm.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.farm.memory.SizeClasses;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.stores.MemorySteps;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** A machine's part in transactions, message by message; and what readers may see between any two of its steps. */
class ParticipantTest {
    private static final TxId ID = new TxId(1, 9, 1);
    private static final TxId OTHER = new TxId(1, 9, 2);
    private static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;
    /** An object of two lines and more. */
    private static final int LENGTH = VALUE + 150;

    private static final SpaceShape SHAPE = new SpaceShape(1 << 14, 1 << 10, true);
    private static final int REGION = 7;
    private static final long LOCKED = -1;

    /** Lets a reader look between any two steps of a change. */
    private static final class Looks extends MemorySteps {
        private Runnable look = () -> {};

        @Override
        public void step(Enum<?> point) {
            look.run();
        }

        @Override
        public void fence() {
            super.fence();
            look.run();
        }

        @Override
        public void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long length) {
            super.copy(from, fromOffset, to, toOffset, length);
            look.run();
        }
    }

    private final Looks looks = new Looks();
    private final TreeSet<Integer> members = new TreeSet<>(List.of(0, 1, 2));

    private FarmConfiguration configuration(int epoch, RegionPlacement placement) {
        return new FarmConfiguration(epoch, 0, 2, 0, members, new TreeMap<>(Map.of(REGION, placement)));
    }

    private interface Body {
        void run(FarmSpace space, Participant participant);
    }

    /** Machine 0, which has a region. */
    private void run(RegionPlacement placement, Body body) {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("m0");
        fabric.run(node, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    ProtectionDomain domain = device.allocateProtectionDomain();
                    FarmSpace space = new FarmSpace(device, domain, SHAPE, looks, 0)) {
                space.onConfiguration(configuration(1, placement));
                space.locksRecovered();
                body.run(space, new Participant(space));
            }
        });
    }

    private static WriteEntry entry(long offset, long version, long value) {
        ObjectImage image = new ObjectImage();
        image.reset(LENGTH, version);
        image.putLong(VALUE, value);
        return new WriteEntry(FarmAddress.of(REGION, offset), WriteEntry.Change.WRITE, image);
    }

    private static NodeVerdict prepare(Participant participant, TxId id, WriteEntry... entries) {
        return verdict(participant, TransactionMessages.prepare(id, new TreeSet<>(List.of(REGION)), List.of(entries)));
    }

    private static NodeVerdict decide(Participant participant, NodeMessageKind kind, TxId id) {
        return verdict(participant, TransactionMessages.decision(kind, id));
    }

    private static NodeVerdict verdict(Participant participant, ByteBuffer message) {
        return NodeMessageDescriptor.verdict(participant.onMessage(message));
    }

    /** What a lock-free reader takes: the value of an object, 0 if nobody has written it yet; or {@link #LOCKED}. */
    private static long look(FarmSpace space, long offset) {
        MemorySegment memory = Objects.requireNonNull(space.region(REGION)).segment();
        ObjectImage image = new ObjectImage();
        ReadVerdict verdict = new LockFreeReader(true).read(memory, offset, offset, LENGTH, image);
        boolean isNew = verdict == ReadVerdict.TORN_UNSEEN && image.version() == 0; // without a checksum
        return verdict == ReadVerdict.CONSISTENT || isNew ? image.getLong(VALUE) : LOCKED;
    }

    private static void write(Participant participant, TxId id, long offset, long version, long value) {
        assertEquals(NodeVerdict.DONE, prepare(participant, id, entry(offset, version, value)));
        assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_PRIMARY, id));
    }

    /**
     * A transaction has committed on another machine, where its new object is seen. From then on nobody may see an old one
     * here.
     */
    @Test
    void shouldNeverShowAnOldObjectOnceItIsToCommit() {
        run(new RegionPlacement(0, List.of(), List.of()), (space, participant) -> {
            write(participant, OTHER, 1024, 0, 1);
            write(participant, new TxId(1, 9, 3), 2048, 0, 1);
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 4, 2), entry(2048, 4, 2)));
            List<List<Long>> seen = new ArrayList<>();
            looks.look = () -> seen.add(List.of(look(space, 1024), look(space, 2048)));
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_PRIMARY, ID));

            assertTrue(seen.size() > 10, seen.toString());
            seen.forEach(pair -> assertTrue(!pair.contains(1L), () -> "an old object in " + seen));
            assertEquals(List.of(2L, 2L), List.of(look(space, 1024), look(space, 2048)));
        });
    }

    private static final RegionPlacement AS_REPLICA = new RegionPlacement(1, List.of(0), List.of());
    private static final RegionPlacement AS_PRIMARY = new RegionPlacement(0, List.of(1), List.of());

    @Test
    void shouldWriteAsReplicaWhatItHasKeptWhenItIsCommitted() {
        run(AS_REPLICA, (space, participant) -> {
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 0, 5)));
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 0, 5))); // twice
            assertEquals(0, look(space, 1024));
            assertEquals(NodeVerdict.REFUSED, decide(participant, NodeMessageKind.COMMIT_PRIMARY, ID));
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_REPLICA, ID));
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_REPLICA, ID));
            assertEquals(5, look(space, 1024));
            assertEquals(NodeVerdict.REFUSED, decide(participant, NodeMessageKind.ABORT, ID));

            // A copy may bring what is newer before the commit of what is older comes.
            assertEquals(NodeVerdict.DONE, prepare(participant, OTHER, entry(1024, 0, 4)));
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_REPLICA, OTHER));
            assertEquals(5, look(space, 1024));
        });
    }

    @Test
    void shouldForgetAsReplicaWhatIsAborted() {
        run(AS_REPLICA, (space, participant) -> {
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 0, 5)));
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.ABORT, ID));
            assertEquals(0, participant.records());
            assertEquals(NodeVerdict.REFUSED, decide(participant, NodeMessageKind.COMMIT_REPLICA, ID));
            assertEquals(0, look(space, 1024));
        });
    }

    @Test
    void shouldKeepARecordUntilItIsCommittedAndOverEverywhere() {
        run(AS_REPLICA, (space, participant) -> {
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 0, 5)));
            participant.truncate(ID.machine(), ID.number());
            assertEquals(1, participant.records());
            assertEquals(NodeVerdict.DONE, decide(participant, NodeMessageKind.COMMIT_REPLICA, ID));
            participant.truncate(ID.machine() + 1, ID.number());
            participant.truncate(ID.machine(), ID.number() - 1);
            assertEquals(1, participant.records());
            participant.truncate(ID.machine(), ID.number());
            assertEquals(0, participant.records());
        });
    }

    // ---- transactions of one machine

    private static ByteBuffer ship(TxId id, List<ObjectVersion> reads, WriteEntry... entries) {
        return SingleMachineCommits.ship(id, List.of(entries), reads, 0);
    }

    private static ByteBuffer done() {
        return NodeMessageDescriptor.answer(NodeVerdict.DONE, 0);
    }

    /** A reader that takes one new object must find no old one afterwards; until then readers are admitted. */
    @Test
    void shouldAdmitReadersUntilItWritesAndShowNoOldObjectAfterANewOne() {
        run(AS_PRIMARY, (space, participant) -> {
            List<String> sent = new ArrayList<>();
            List<NodeVerdict> replies = new ArrayList<>();
            SingleMachineCommits commits = new SingleMachineCommits(
                    space,
                    participant,
                    (id, machine, message) -> sent.add(NodeMessageDescriptor.kind(message) + " to " + machine));
            commits.onShip(
                    ship(ID, List.of(), entry(1024, 0, 2), entry(2048, 0, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer)));
            commits.onShip(
                    ship(ID, List.of(), entry(1024, 0, 2), entry(2048, 0, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer))); // twice
            assertEquals(List.of("RECORD to 1"), sent);
            assertEquals(List.of(), replies);
            assertEquals(List.of(0L, 0L), List.of(look(space, 1024), look(space, 2048)));
            assertEquals(NodeVerdict.LOCKED, prepare(participant, OTHER, entry(1024, 0, 3)));
            assertEquals(
                    NodeVerdict.LOCKED,
                    verdict(
                            participant,
                            TransactionMessages.validate(
                                    OTHER, List.of(new ObjectVersion(FarmAddress.of(REGION, 2048), 0)))));

            List<List<Long>> seen = new ArrayList<>();
            looks.look = () -> seen.add(List.of(look(space, 1024), look(space, 2048)));
            commits.onAnswer(ID, 1, done(), 0);
            int firstNew = 0;
            while (firstNew < seen.size() && !seen.get(firstNew).contains(2L)) {
                firstNew++;
            }
            assertTrue(firstNew > 10 && firstNew < seen.size(), seen.toString());
            seen.subList(firstNew, seen.size()).forEach(pair -> assertTrue(!pair.contains(0L), seen::toString));
            assertEquals(List.of(2L, 2L), List.of(look(space, 1024), look(space, 2048)));
            assertEquals(List.of(NodeVerdict.DONE), replies);
            commits.onShip(
                    ship(ID, List.of(), entry(1024, 0, 2), entry(2048, 0, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer))); // its answer was lost
            assertEquals(List.of(NodeVerdict.DONE, NodeVerdict.DONE), replies);
            assertEquals(1, sent.size());
        });
    }

    @Test
    void shouldRefuseAShippedTransactionWhoseReadsHaveChanged() {
        run(AS_PRIMARY, (space, participant) -> {
            List<NodeVerdict> replies = new ArrayList<>();
            SingleMachineCommits commits =
                    new SingleMachineCommits(space, participant, (id, machine, message) -> fail("sent " + message));
            commits.onShip(
                    ship(ID, List.of(new ObjectVersion(FarmAddress.of(REGION, 2048), 8)), entry(1024, 0, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer)));
            commits.onShip(
                    ship(OTHER, List.of(), entry(1024, 4, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer)));
            assertEquals(List.of(NodeVerdict.OTHER_VERSION, NodeVerdict.OTHER_VERSION), replies);
            assertEquals(0, participant.records());
            assertEquals(NodeVerdict.DONE, prepare(participant, OTHER, entry(1024, 0, 3))); // nothing is locked
        });
    }

    /** All regions are in one record: the loss of a machine loses all of it or nothing. */
    @Test
    void shouldRecordAWholeTransactionAtOnceAndWaitForEachReplica() {
        RegionPlacement placement = new RegionPlacement(0, List.of(1, 2), List.of());
        run(placement, (space, participant) -> {
            space.onConfiguration(configuration(1, placement).with(REGION + 1, placement)); // made within the epoch
            List<String> sent = new ArrayList<>();
            List<NodeVerdict> replies = new ArrayList<>();
            SingleMachineCommits commits = new SingleMachineCommits(
                    space,
                    participant,
                    (id, machine, message) -> sent.add(
                            TransactionMessages.writes(message).entries().size() + " to " + machine));
            ObjectImage image = new ObjectImage();
            image.reset(LENGTH, 0);
            commits.onShip(
                    ship(
                            ID,
                            List.of(),
                            entry(1024, 0, 2),
                            new WriteEntry(FarmAddress.of(REGION + 1, 1024), WriteEntry.Change.WRITE, image)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer)));
            assertEquals(List.of("2 to 1", "2 to 2"), sent);
            commits.onAnswer(ID, 2, done(), 0);
            commits.onAnswer(ID, 2, done(), 0);
            commits.onAnswer(ID, 1, NodeMessageDescriptor.answer(NodeVerdict.NOT_READY, 0), 7); // a region is new to it
            assertEquals(0, commits.doWork(1_000_006)); // not at once, again and again
            assertEquals(List.of("2 to 1", "2 to 2"), sent);
            assertEquals(1, commits.doWork(1_000_007));
            assertEquals(0, commits.doWork(9_000_000));
            assertEquals(List.of("2 to 1", "2 to 2", "2 to 1"), sent);
            assertEquals(List.of(), replies);
            commits.onAnswer(ID, 1, done(), 0);
            assertEquals(List.of(NodeVerdict.DONE), replies);
        });
    }

    /** The others may have it: it can be neither committed nor aborted, and nobody waits for ever. */
    @Test
    void shouldSayThatNobodyKnowsWhenAReplicaRefusesARecord() {
        run(AS_PRIMARY, (space, participant) -> {
            List<NodeVerdict> replies = new ArrayList<>();
            SingleMachineCommits commits = new SingleMachineCommits(space, participant, (id, machine, message) -> {});
            commits.onShip(
                    ship(ID, List.of(), entry(1024, 0, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer)));
            commits.onAnswer(ID, 1, NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0), 0);
            assertEquals(List.of(NodeVerdict.UNDECIDED), replies);
            commits.onShip(
                    ship(ID, List.of(), entry(1024, 0, 2)),
                    answer -> replies.add(NodeMessageDescriptor.verdict(answer))); // its answer was lost
            assertEquals(List.of(NodeVerdict.UNDECIDED, NodeVerdict.UNDECIDED), replies);
            assertEquals(0, look(space, 1024));
            assertEquals(NodeVerdict.LOCKED, prepare(participant, OTHER, entry(1024, 0, 3)));
        });
    }

    @Test
    void shouldWriteAsReplicaWhatARecordBrings() {
        run(AS_REPLICA, (space, participant) -> {
            ByteBuffer record = TransactionMessages.record(ship(OTHER, List.of(), entry(1024, 0, 5)));
            assertEquals(NodeVerdict.DONE, verdict(participant, record));
            assertEquals(NodeVerdict.DONE, verdict(participant, record));
            assertEquals(5, look(space, 1024));
            assertEquals(1, participant.records());

            TxId next = new TxId(1, 9, 3);
            ByteBuffer other = TransactionMessages.record(
                    SingleMachineCommits.ship(next, List.of(entry(1024, 4, 6)), List.of(), OTHER.number()));
            assertEquals(NodeVerdict.DONE, verdict(participant, other)); // which says that the first is over
            assertEquals(6, look(space, 1024));
            assertEquals(1, participant.records());
        });
    }

    // ---- epochs

    /** Its decision comes region by region, as the model shows: readers would see the one and then not the other. */
    @Test
    void shouldAdmitReadersNoMoreToATransactionOfOneMachineThatIsInDoubt() {
        run(AS_PRIMARY, (space, participant) -> {
            SingleMachineCommits commits = new SingleMachineCommits(space, participant, (id, machine, message) -> {});
            commits.onShip(ship(ID, List.of(), entry(1024, 0, 2)), answer -> fail("answered"));
            assertEquals(0, look(space, 1024));
            commits.onEpoch();
            space.onConfiguration(configuration(2, AS_PRIMARY));
            participant.onEpoch();

            assertEquals(LOCKED, look(space, 1024));
            commits.onAnswer(ID, 1, done(), 0); // of the old epoch
            assertEquals(LOCKED, look(space, 1024));
        });
    }

    @Test
    void shouldTakeNothingAsPrimaryOfARegionThatItDoesNotServeYet() {
        run(AS_REPLICA, (space, participant) -> {
            space.onConfiguration(configuration(2, AS_PRIMARY));
            participant.onEpoch();
            assertEquals(NodeVerdict.NOT_READY, prepare(participant, ID, entry(1024, 0, 5)));
            assertEquals(
                    NodeVerdict.NOT_READY,
                    verdict(
                            participant,
                            TransactionMessages.validate(
                                    ID, List.of(new ObjectVersion(FarmAddress.of(REGION, 1024), 0)))));
            assertEquals(FarmAddress.NONE, space.allocate(LENGTH, FarmAddress.NONE));
            space.locksRecovered();
            assertEquals(NodeVerdict.DONE, prepare(participant, ID, entry(1024, 0, 5)));
        });
    }

    /** A decision may come to who has never heard of the transaction, or knows better. */
    @Test
    void shouldTakeADecisionInEveryState() {
        run(AS_REPLICA, (space, participant) -> {
            assertEquals(NodeVerdict.DONE, decided(participant, ID, true));
            assertEquals(NodeVerdict.DONE, decided(participant, ID, false));
            assertEquals(0, participant.records());
            assertEquals(NodeVerdict.DONE, decided(participant, ID, true, entry(1024, 0, 5)));
            assertEquals(NodeVerdict.DONE, decided(participant, ID, true, entry(1024, 0, 5)));
            assertEquals(5, look(space, 1024));
            assertEquals(NodeVerdict.REFUSED, decided(participant, ID, false)); // it was committed
            assertEquals(NodeVerdict.DONE, prepare(participant, OTHER, entry(1024, 4, 6)));
            assertEquals(NodeVerdict.DONE, decided(participant, OTHER, false));
            assertEquals(1, participant.records());
            assertEquals(5, look(space, 1024));
        });
    }

    private static NodeVerdict decided(Participant participant, TxId id, boolean commits, WriteEntry... lacking) {
        return verdict(
                participant,
                TransactionMessages.decision(
                        NodeMessageKind.DECIDE_REPLICA, id, commits, List.of(REGION), List.of(lacking)));
    }

    /** It does not know what is free: an allocation would overwrite what lives. */
    @Test
    void shouldNotAllocateInARegionOfWhichItWasAReplica() {
        run(AS_REPLICA, (space, participant) -> {
            space.onConfiguration(configuration(2, AS_PRIMARY));
            space.locksRecovered();
            assertEquals(FarmAddress.NONE, space.allocate(LENGTH, FarmAddress.NONE));
            assertEquals(FarmAddress.NONE, space.allocate(LENGTH, FarmAddress.of(REGION, 1024)));
        });
        run(AS_PRIMARY, (space, participant) -> {
            assertEquals(REGION, FarmAddress.region(space.allocate(LENGTH, FarmAddress.NONE)));
            space.onConfiguration(configuration(2, AS_REPLICA));
            space.onConfiguration(configuration(3, AS_PRIMARY));
            space.locksRecovered();
            assertEquals(FarmAddress.NONE, space.allocate(LENGTH, FarmAddress.NONE));
        });
    }

    private static WriteEntry allocation(long offset) {
        ObjectImage image = new ObjectImage();
        image.reset(LENGTH, 0);
        image.allocated(true);
        return new WriteEntry(FarmAddress.of(REGION, offset), WriteEntry.Change.ALLOCATE, image);
    }

    private static WriteEntry freeing(long offset) {
        ObjectImage image = new ObjectImage();
        image.reset(LENGTH, FarmObjectDescriptor.VERSION_STEP);
        image.nextIncarnation();
        return new WriteEntry(FarmAddress.of(REGION, offset), WriteEntry.Change.FREE, image);
    }

    /** A replica knows by then what is allocated, by what it was told, and finds each free place once. */
    @Test
    void shouldAllocateBesideWhatIsAllocatedOnceAllTransactionsAreOver() {
        int place = new SizeClasses().size(new SizeClasses().of(SHAPE.slotLength(LENGTH)));
        int places = SHAPE.blockLength() / place;
        long freed = 1024L + place;
        run(AS_REPLICA, (space, participant) -> {
            List<Long> taken = new ArrayList<>(List.of(1024L, 1024L + 3L * place, 2048L));
            for (long offset : taken) {
                assertEquals(NodeVerdict.DONE, record(participant, allocation(offset)));
            }
            assertEquals(NodeVerdict.DONE, record(participant, allocation(freed)));
            assertEquals(NodeVerdict.DONE, record(participant, freeing(freed)));
            space.onConfiguration(configuration(2, AS_PRIMARY));
            space.locksRecovered();
            space.transactionsRecovered();
            assertEquals(freed, FarmAddress.offset(space.allocate(LENGTH, FarmAddress.of(REGION, 1024))));
            taken.add(freed);
            long reserved = space.allocate(LENGTH, FarmAddress.NONE);
            while (reserved != FarmAddress.NONE) {
                assertFalse(taken.contains(FarmAddress.offset(reserved)), taken + " and " + reserved);
                taken.add(FarmAddress.offset(reserved));
                reserved = space.allocate(LENGTH, FarmAddress.NONE);
            }
            assertEquals(places * 15, taken.size()); // the first of 16 blocks has no objects
        });
    }

    private int recorded;

    private NodeVerdict record(Participant participant, WriteEntry entry) {
        return verdict(participant, TransactionMessages.record(ship(new TxId(1, 9, ++recorded), List.of(), entry)));
    }

    /** What was reserved in an older epoch, nobody may write any more: it is free again. */
    @Test
    void shouldGiveReservationsOfOlderEpochsAway() {
        run(AS_PRIMARY, (space, participant) -> {
            long allocated = space.allocate(LENGTH, FarmAddress.NONE);
            long reserved = space.allocate(LENGTH, FarmAddress.NONE);
            SingleMachineCommits commits = new SingleMachineCommits(space, participant, (id, machine, message) -> {});
            commits.onShip(ship(ID, List.of(), allocation(FarmAddress.offset(allocated))), answer -> {});
            commits.onAnswer(ID, 1, done(), 0);
            space.onConfiguration(configuration(2, AS_PRIMARY));
            participant.onEpoch();
            space.locksRecovered();
            assertEquals(FarmAddress.NONE, space.allocate(LENGTH, FarmAddress.NONE));
            space.transactionsRecovered();
            assertEquals(reserved, space.allocate(LENGTH, allocated));
            space.transactionsRecovered(); // once an epoch
            assertTrue(reserved != space.allocate(LENGTH, allocated));
        });
    }
}
