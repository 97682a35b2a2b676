package org.softrdma.farm.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.stores.MemorySteps;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Functions at the primary of an object that has one replica, message by message. */
class ShippedFunctionsTest implements ShippedFunctions.Machine {
    private static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final int LENGTH = VALUE + Long.BYTES;
    private static final SpaceShape SHAPE = new SpaceShape(1 << 14, 1 << 10, true);
    private static final int REGION = 7;
    private static final long ONE = FarmAddress.of(REGION, 1024);
    private static final long OTHER = FarmAddress.of(REGION, 2048);
    private static final long LATER_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int ADD = 1;
    private static final int GET = 2;
    private static final int FAIL = 3;
    private static final int ALLOCATE = 4;
    private static final int RESERVE = 5;
    private static final int TELL = 6;
    private static final int LONGEST = 512;

    private final Map<Integer, ShippedFunction> known = Map.of(
            ADD,
            (objects, address, argument) -> {
                ObjectImage object = objects.write(address, LENGTH);
                long before = object.getLong(VALUE);
                object.putLong(VALUE, before + argument.getInt());
                return before;
            },
            GET,
            (objects, address, argument) -> objects.read(address, LENGTH).getLong(VALUE),
            FAIL,
            (objects, address, argument) -> {
                objects.write(address, LENGTH).putLong(VALUE, -1);
                throw new IllegalArgumentException("it fails");
            },
            ALLOCATE,
            (objects, address, argument) -> objects.allocate(LENGTH, address),
            RESERVE,
            (objects, address, argument) -> objects.reserveAdjacent(LENGTH, 2, address),
            TELL,
            (objects, address, argument) -> {
                objects.tell(new byte[argument.getInt()]);
                return objects.read(address, LENGTH).getLong(VALUE);
            });
    private final List<TxId> sent = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private @Nullable FarmSpace space;
    private long begun;
    private boolean lease = true;
    private boolean mayBegin = true;
    private Consumer<Coordinator.Told> onRecovered = told -> {};
    private Consumer<Coordinator.Told> firstOnRecovered = told -> {};

    @Override
    public TxId begin(Consumer<Coordinator.Told> newOnRecovered) {
        onRecovered = newOnRecovered;
        firstOnRecovered = begun == 0 ? newOnRecovered : firstOnRecovered;
        return new TxId(1, 0, ++begun);
    }

    @Override
    public boolean mayBegin() {
        return mayBegin;
    }

    @Override
    public void over(TxId id) {
        // Nobody asks.
    }

    @Override
    public long truncated() {
        return 0;
    }

    @Override
    public boolean mayAnswer() {
        return lease;
    }

    private static FarmConfiguration configuration(int epoch) {
        RegionPlacement placement = new RegionPlacement(0, List.of(1), List.of());
        return new FarmConfiguration(
                epoch, 0, 2, 0, new TreeSet<>(List.of(0, 1, 9)), new TreeMap<>(Map.of(REGION, placement)));
    }

    private interface Body {
        void run(ShippedFunctions functions, SingleMachineCommits commits, Participant participant);
    }

    private void run(Body body) {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("m0");
        fabric.run(node, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    ProtectionDomain domain = device.allocateProtectionDomain();
                    FarmSpace opened = new FarmSpace(device, domain, SHAPE, MemorySteps.OF_JVM, 0)) {
                space = opened;
                space.onConfiguration(configuration(1));
                space.locksRecovered();
                Participant participant = new Participant(space);
                SingleMachineCommits commits =
                        new SingleMachineCommits(space, participant, (id, machine, message) -> sent.add(id));
                body.run(new ShippedFunctions(space, known, commits, this, LONGEST), commits, participant);
            }
        });
    }

    private FarmSpace space() {
        return Objects.requireNonNull(space);
    }

    private void ship(ShippedFunctions functions, int number, int function, long address) {
        ByteBuffer run = ShippedFunctions.run(new TxId(1, 9, number), address, function, new byte[] {1, 0, 0, 0});
        functions.onRun(
                run,
                0,
                answer -> answers.add(number + " " + NodeMessageDescriptor.verdict(answer)
                        + (NodeMessageDescriptor.verdict(answer) == NodeVerdict.DONE
                                ? " " + answer.getLong(NodeMessageDescriptor.RESULT_OFFSET)
                                : "")));
    }

    private void recorded(SingleMachineCommits commits) {
        commits.onAnswer(
                Objects.requireNonNull(sent.getLast()), 1, NodeMessageDescriptor.answer(NodeVerdict.DONE, 0), 0);
    }

    /** A replica breaks the protocol: it is said that nobody knows, and kept for who asks again. */
    @Test
    void shouldSayThatNobodyKnowsWhenAReplicaRefusesTheRecord() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            TxId id = Objects.requireNonNull(sent.getLast());
            commits.onAnswer(id, 1, NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0), 0);
            assertEquals(List.of("1 UNDECIDED"), answers);
            ship(functions, 2, ADD, ONE);
            assertEquals(0, functions.doWork(0)); // it is locked until then
            commits.onEpoch();
            functions.onEpoch();
            ship(functions, 1, ADD, ONE);
            onRecovered.accept(Coordinator.Told.COMMITTED);
            assertEquals(List.of("1 UNDECIDED", "1 DONE 0"), answers);
        });
    }

    /** Whoever comes after the RECORD has been sent is in the next one. */
    @Test
    void shouldGatherWhatComesWhileATransactionWaits() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            ship(functions, 2, ADD, ONE);
            ship(functions, 3, ADD, ONE);
            assertEquals(0, functions.doWork(1));
            assertEquals(List.of(), answers);
            recorded(commits);
            assertEquals(List.of("1 DONE 0"), answers);
            assertEquals(2, functions.doWork(2));
            assertEquals(2, sent.size());
            recorded(commits);
            assertEquals(List.of("1 DONE 0", "2 DONE 1", "3 DONE 2"), answers);
        });
    }

    @Test
    void shouldRunFunctionsForOtherObjectsMeanwhile() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            ship(functions, 2, ADD, OTHER);
            assertEquals(1, functions.doWork(1));
            recorded(commits);
            assertEquals(List.of("2 DONE 0"), answers);
        });
    }

    @Test
    void shouldRunAFunctionOnceThatComesTwice() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            ship(functions, 1, ADD, ONE);
            recorded(commits);
            assertEquals(List.of("1 DONE 0"), answers);
            ship(functions, 1, ADD, ONE); // its answer was lost
            assertEquals(List.of("1 DONE 0", "1 DONE 0"), answers);
            functions.truncate(9, 1);
            ship(functions, 2, GET, ONE);
            assertEquals(1, functions.doWork(1));
            assertEquals("2 DONE 1", answers.getLast());
        });
    }

    /** Its primary knows whether it has run, and waits until it knows what came of it. */
    @Test
    void shouldRunAFunctionOnceThatComesAgainAfterAnEpoch() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            ship(functions, 2, ADD, OTHER);
            commits.onEpoch();
            functions.onEpoch();
            ship(functions, 1, ADD, ONE);
            ship(functions, 2, ADD, OTHER);
            assertEquals(1, functions.doWork(1));
            assertEquals(List.of(), answers);
            recorded(commits);
            assertEquals(List.of("2 DONE 0"), answers);
            firstOnRecovered.accept(Coordinator.Told.COMMITTED);
            assertEquals(List.of("2 DONE 0", "1 DONE 0"), answers);
        });
    }

    @Test
    void shouldRunAFunctionAgainWhoseTransactionIsAborted() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            commits.onEpoch();
            functions.onEpoch();
            onRecovered.accept(Coordinator.Told.ABORTED);
            assertEquals(List.of(), answers);
            ship(functions, 1, ADD, OTHER);
            assertEquals(1, functions.doWork(1));
            recorded(commits);
            assertEquals(List.of("1 DONE 0"), answers);
        });
    }

    @Test
    void shouldWaitWhileTooManyTransactionsAreNotOver() {
        run((functions, commits, participant) -> {
            mayBegin = false;
            ship(functions, 1, ADD, ONE);
            assertEquals(0, functions.doWork(0));
            mayBegin = true;
            assertEquals(1, functions.doWork(1));
        });
    }

    @Test
    void shouldUndoAFunctionThatThrowsAndKeepThoseBesideIt() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            ship(functions, 2, FAIL, ONE);
            ship(functions, 3, ADD, ONE);
            assertEquals(2, functions.doWork(0));
            recorded(commits);
            assertEquals(List.of("2 REFUSED", "1 DONE 0", "3 DONE 1"), answers);
        });
    }

    @Test
    void shouldGiveUpWhenAnObjectStaysLocked() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, ONE);
            assertEquals(1, functions.doWork(0));
            ship(functions, 2, ADD, ONE);
            assertEquals(0, functions.doWork(LATER_NS));
            assertEquals(List.of("2 LOCKED"), answers);
        });
    }

    /** What is open here may be a function that waits on another machine, for as long as that one waits for this one. */
    @Test
    void shouldGiveUpWhenTooManyTransactionsStayOpen() {
        run((functions, commits, participant) -> {
            mayBegin = false;
            ship(functions, 1, ADD, ONE);
            assertEquals(0, functions.doWork(LATER_NS));
            assertEquals(List.of("1 NOT_READY"), answers);
        });
    }

    /** Another machine may serve the object by now. */
    @Test
    void shouldNotTellWhatItHasOnlyReadWithoutALease() {
        run((functions, commits, participant) -> {
            lease = false;
            ship(functions, 1, GET, ONE);
            assertEquals(1, functions.doWork(0));
            assertEquals(List.of("1 NOT_READY"), answers);
        });
    }

    @Test
    void shouldMakeNoRecordLongerThanAMessage() {
        run((functions, commits, participant) -> {
            for (int i = 0; i < 14; i++) {
                ship(functions, i, ADD, FarmAddress.of(REGION, 1024 + i * 256L));
            }
            int first = functions.doWork(0);
            assertTrue(first > 3 && first < 14, first + " in 512 bytes");
            assertEquals(14 - first, functions.doWork(1) + functions.doWork(2));
            assertEquals(0, answers.size());
        });
    }

    /** What older epochs have allocated and reserved is not known before their transactions are over. */
    @ParameterizedTest
    @ValueSource(ints = {ALLOCATE, RESERVE})
    void shouldWaitForRoomUntilItIsKnownWhatIsFree(int function) {
        run((functions, commits, participant) -> {
            space().onConfiguration(configuration(2));
            space().locksRecovered();
            ship(functions, 1, function, ONE);
            assertEquals(0, functions.doWork(0));
            assertEquals(List.of(), answers);
            space().transactionsRecovered();
            assertEquals(1, functions.doWork(1));
        });
    }

    @Test
    void shouldRefuseWhatIsNotServedHere() {
        run((functions, commits, participant) -> {
            ship(functions, 1, ADD, FarmAddress.of(REGION + 1, 1024));
            ship(functions, 2, ADD, FarmAddress.of(REGION, 8));
            ship(functions, 3, 99, ONE);
            assertEquals(0, functions.doWork(0));
            assertEquals(List.of("3 REFUSED", "1 REFUSED", "2 REFUSED"), answers);
        });
    }

    @Test
    void shouldTellBytesBesideTheResultUpToTheLongestMessage() {
        run((functions, commits, participant) -> {
            int most = LONGEST - ShippedFunctions.TOLD_OFFSET;
            List<Integer> lengths = new ArrayList<>();
            for (int i = 1; i <= 4; i++) {
                int bytes = i == 1 ? most : i == 2 ? most + 1 : 0;
                ByteBuffer argument = ByteBuffer.allocate(Integer.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(0, bytes);
                ByteBuffer message =
                        ShippedFunctions.run(new TxId(1, 9, i), ONE, i == 4 ? GET : TELL, argument.array());
                functions.onRun(
                        message,
                        0,
                        answer -> lengths.add(
                                NodeMessageDescriptor.verdict(answer) == NodeVerdict.DONE ? answer.limit() : 0));
            }
            int ignored = functions.doWork(0);
            assertEquals(Set.of(0, LONGEST, ShippedFunctions.TOLD_OFFSET), Set.copyOf(lengths));
            assertEquals(4, lengths.size());
        });
    }
}
