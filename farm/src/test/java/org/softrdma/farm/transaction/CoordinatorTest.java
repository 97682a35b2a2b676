package org.softrdma.farm.transaction;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;

/**
 * A commit, message by message, and the bytes of its messages. A region's primary has the region's number, its replicas
 * that and ten or twenty more.
 */
class CoordinatorTest {
    private static final TxId ID = new TxId(3, 9, 70_000);
    private static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + Long.BYTES;

    private final List<String> sent = new ArrayList<>();

    private static WriteEntry write(int region, long offset) {
        ObjectImage image = new ObjectImage();
        image.reset(LENGTH, 8);
        image.incarnation(5);
        image.allocated(true);
        image.putLong(FarmObjectDescriptor.PAYLOAD_OFFSET, 0x1122);
        return new WriteEntry(FarmAddress.of(region, offset), WriteEntry.Change.WRITE, image);
    }

    private static ObjectVersion read(int region, long offset) {
        return new ObjectVersion(FarmAddress.of(region, offset), 12);
    }

    private Coordinator begin(List<WriteEntry> written, List<ObjectVersion> read) {
        return begin(written, read, 0);
    }

    private Coordinator begin(List<WriteEntry> written, List<ObjectVersion> read, int replicas) {
        Coordinator coordinator = new Coordinator(
                ID,
                written,
                read,
                region -> new RegionPlacement(
                        region, List.of(region + 10, region + 20).subList(0, replicas), List.of()),
                (machine, message) -> sent.add(NodeMessageDescriptor.kind(message) + " to " + machine));
        coordinator.begin();
        return coordinator;
    }

    private static ByteBuffer answer(NodeMessageKind kind, NodeVerdict verdict) {
        ByteBuffer answer = NodeMessageDescriptor.answer(verdict, 0);
        NodeMessageDescriptor.answers(answer, NodeMessageDescriptor.request(kind, 0));
        return answer;
    }

    private static void done(Coordinator coordinator, NodeMessageKind kind, int machine) {
        coordinator.onAnswer(machine, answer(kind, NodeVerdict.DONE));
    }

    @Test
    void shouldLockThenValidateThenCommitAndTellAtTheFirstAnswer() {
        Coordinator coordinator = begin(List.of(write(1, 64), write(1, 128), write(2, 64)), List.of(read(3, 64)));
        done(coordinator, NodeMessageKind.PREPARE, 1);
        done(coordinator, NodeMessageKind.PREPARE, 1); // twice
        assertEquals(List.of("PREPARE to 1", "PREPARE to 2"), sent);
        done(coordinator, NodeMessageKind.PREPARE, 2);
        assertEquals(List.of("VALIDATE to 3"), sent.subList(2, sent.size()));
        done(coordinator, NodeMessageKind.VALIDATE, 3);
        assertEquals(List.of("COMMIT_PRIMARY to 1", "COMMIT_PRIMARY to 2"), sent.subList(3, sent.size()));
        assertEquals(Coordinator.Told.NOTHING, coordinator.told());
        done(coordinator, NodeMessageKind.COMMIT_PRIMARY, 2);
        assertEquals(Coordinator.Told.COMMITTED, coordinator.told());
        assertEquals(Coordinator.Phase.COMMITTING_PRIMARIES, coordinator.phase());
        done(coordinator, NodeMessageKind.COMMIT_PRIMARY, 1);
        assertEquals(Coordinator.Phase.OVER, coordinator.phase());
    }

    @Test
    void shouldCommitAtAllReplicasFirstAndTellAtThePrimarysAnswerAndNoEarlier() {
        Coordinator coordinator = begin(List.of(write(1, 64), write(2, 64)), List.of(read(3, 64)), 2);
        List<Integer> replicas = List.of(11, 12, 21, 22);
        assertEquals(
                List.of(
                        "PREPARE to 1",
                        "PREPARE to 2",
                        "PREPARE to 11",
                        "PREPARE to 12",
                        "PREPARE to 21",
                        "PREPARE to 22"),
                sent);
        sent.clear();
        done(coordinator, NodeMessageKind.PREPARE, 1);
        done(coordinator, NodeMessageKind.PREPARE, 2);
        replicas.forEach(machine -> {
            assertEquals(List.of(), sent); // one of them may not have it
            done(coordinator, NodeMessageKind.PREPARE, machine);
        });
        assertEquals(List.of("VALIDATE to 3"), sent); // only primaries
        sent.clear();
        done(coordinator, NodeMessageKind.VALIDATE, 3);
        assertEquals(
                List.of("COMMIT_REPLICA to 11", "COMMIT_REPLICA to 12", "COMMIT_REPLICA to 21", "COMMIT_REPLICA to 22"),
                sent);
        sent.clear();
        replicas.forEach(machine -> {
            assertEquals(List.of(), sent);
            done(coordinator, NodeMessageKind.COMMIT_REPLICA, machine);
            assertEquals(Coordinator.Told.NOTHING, coordinator.told());
        });
        assertEquals(List.of("COMMIT_PRIMARY to 1", "COMMIT_PRIMARY to 2"), sent);
        done(coordinator, NodeMessageKind.COMMIT_PRIMARY, 2);
        assertEquals(Coordinator.Told.COMMITTED, coordinator.told());
        done(coordinator, NodeMessageKind.COMMIT_PRIMARY, 1);
        assertEquals(Coordinator.Phase.OVER, coordinator.phase());
    }

    @Test
    void shouldSendAMachineThatIsPrimaryAndReplicaOnePrepareAndBothCommits() {
        Coordinator coordinator = begin(List.of(write(1, 64), write(11, 64)), List.of(), 1);
        assertEquals(List.of("PREPARE to 1", "PREPARE to 11", "PREPARE to 21"), sent);
        List.of(1, 11, 21).forEach(machine -> done(coordinator, NodeMessageKind.PREPARE, machine));
        List.of(11, 21).forEach(machine -> done(coordinator, NodeMessageKind.COMMIT_REPLICA, machine));
        assertEquals(
                List.of("COMMIT_REPLICA to 11", "COMMIT_REPLICA to 21", "COMMIT_PRIMARY to 1", "COMMIT_PRIMARY to 11"),
                sent.subList(3, sent.size()));
    }

    @Test
    void shouldAbortAtReplicasToo() {
        Coordinator coordinator = begin(List.of(write(1, 64)), List.of(), 1);
        coordinator.onAnswer(1, answer(NodeMessageKind.PREPARE, NodeVerdict.LOCKED));
        done(coordinator, NodeMessageKind.PREPARE, 11);
        assertEquals(List.of("ABORT to 1", "ABORT to 11"), sent.subList(2, sent.size()));
    }

    @Test
    void shouldSayThatNobodyKnowsWhenACommitIsRefused() {
        Coordinator coordinator = begin(List.of(write(1, 64)), List.of(), 1);
        List.of(1, 11).forEach(machine -> done(coordinator, NodeMessageKind.PREPARE, machine));
        coordinator.onAnswer(11, answer(NodeMessageKind.COMMIT_REPLICA, NodeVerdict.REFUSED));

        assertEquals(Coordinator.Told.UNKNOWN, coordinator.told());
        assertEquals(Coordinator.Phase.COMMITTING_REPLICAS, coordinator.phase());
    }

    @Test
    void shouldAbortEverywhereWhenOneRefuses() {
        for (NodeVerdict verdict : List.of(NodeVerdict.LOCKED, NodeVerdict.OTHER_VERSION, NodeVerdict.NOT_READY)) {
            sent.clear();
            Coordinator coordinator = begin(List.of(write(1, 64), write(2, 64)), List.of(read(3, 64)));
            coordinator.onAnswer(2, answer(NodeMessageKind.PREPARE, verdict));
            assertEquals(2, sent.size()); // the other may be locking yet
            done(coordinator, NodeMessageKind.PREPARE, 1);
            assertEquals(List.of("ABORT to 1", "ABORT to 2"), sent.subList(2, sent.size()));
            assertEquals(Coordinator.Told.ABORTED, coordinator.told());
            assertTrue(coordinator.reason().contains(verdict.name()), coordinator.reason());
            done(coordinator, NodeMessageKind.ABORT, 1);
            done(coordinator, NodeMessageKind.ABORT, 2);
            assertEquals(Coordinator.Phase.OVER, coordinator.phase());
        }
    }

    @Test
    void shouldAbortWhenWhatWasReadHasChanged() {
        Coordinator coordinator = begin(List.of(write(1, 64)), List.of(read(3, 64), read(4, 64)));
        done(coordinator, NodeMessageKind.PREPARE, 1);
        coordinator.onAnswer(3, answer(NodeMessageKind.VALIDATE, NodeVerdict.LOCKED));
        done(coordinator, NodeMessageKind.VALIDATE, 4);

        assertEquals(List.of("PREPARE to 1", "VALIDATE to 3", "VALIDATE to 4", "ABORT to 1"), sent);
        assertEquals(Coordinator.Told.ABORTED, coordinator.told());
    }

    @Test
    void shouldOnlyValidateWhatOnlyReads() {
        Coordinator coordinator = begin(List.of(), List.of(read(3, 64), read(4, 64), read(4, 128)));
        assertEquals(List.of("VALIDATE to 3", "VALIDATE to 4"), sent);
        done(coordinator, NodeMessageKind.VALIDATE, 3);
        done(coordinator, NodeMessageKind.VALIDATE, 4);
        assertEquals(Coordinator.Told.COMMITTED, coordinator.told());
        assertEquals(Coordinator.Phase.OVER, coordinator.phase());

        Coordinator other = begin(List.of(), List.of(read(3, 64)));
        other.onAnswer(3, answer(NodeMessageKind.VALIDATE, NodeVerdict.OTHER_VERSION));
        assertEquals(Coordinator.Told.ABORTED, other.told());
        assertEquals(Coordinator.Phase.OVER, other.phase());
    }

    @Test
    void shouldLayOutItsMessagesLikeThis() {
        ByteBuffer prepare = TransactionMessages.prepare(ID, new TreeSet<>(Set.of(1, 7)), List.of(write(7, 0x40)));
        ByteBuffer validate = TransactionMessages.validate(ID, List.of(read(2, 0x80)));

        assertArrayEquals(
                HexFormat.of()
                        .parseHex(
                                "030000000900000070110100000000000200010000000000" // id, regions, entries
                                        + "0100000007000000" // regions
                                        + "400000000700000008000000000000001800000001000000" // address, version,
                                        // length, change
                                        + "05000000000000802211000000000000"),
                body(prepare));
        assertArrayEquals(
                HexFormat.of()
                        .parseHex("030000000900000070110100000000000100000000000000"
                                + "80000000020000000c00000000000000"),
                body(validate));
        WriteSet writes = TransactionMessages.writes(prepare);
        WriteEntry entry = writes.entries().getFirst();
        assertEquals(List.of(1, 7), writes.regions());
        assertEquals(ID, TransactionMessages.id(prepare));
        assertEquals(FarmAddress.of(7, 0x40), entry.address());
        assertEquals(8, entry.image().version());
        assertTrue(entry.image().isAllocated());
        assertEquals(0x1122, entry.image().getLong(FarmObjectDescriptor.PAYLOAD_OFFSET));
        assertEquals(List.of(read(2, 0x80)), TransactionMessages.versions(validate));
    }

    @Test
    void shouldLayOutTransactionsOfOneMachineLikeThis() {
        ByteBuffer ship = TransactionMessages.ship(
                ID, new TreeSet<>(Set.of(7)), List.of(write(7, 0x40)), List.of(read(2, 0x80)), 0x55);
        ByteBuffer record = TransactionMessages.record(ship);
        String writes = "0700000000000000" // regions
                + "400000000700000008000000000000001800000001000000" // address, version, length, change
                + "05000000000000802211000000000000" // object
                + "5500000000000000"; // truncated

        assertEquals(NodeMessageKind.SHIP, NodeMessageDescriptor.kind(ship));
        assertArrayEquals(
                HexFormat.of()
                        .parseHex("030000000900000070110100000000000100010001000000" + writes
                                + "80000000020000000c00000000000000"),
                body(ship));
        assertEquals(NodeMessageKind.RECORD, NodeMessageDescriptor.kind(record));
        assertArrayEquals(
                HexFormat.of().parseHex("030000000900000070110100000000000100010000000000" + writes), body(record));
        WriteSet read = TransactionMessages.writes(ship);
        assertEquals(0x55, TransactionMessages.truncated(ship, read));
        assertEquals(
                List.of(read(2, 0x80)), TransactionMessages.reads(ship, read).orElseThrow());
    }

    @Test
    void shouldTakeNoShippedTransactionThatIsCut() {
        ByteBuffer whole = TransactionMessages.ship(
                ID, new TreeSet<>(Set.of(7)), List.of(write(7, 0x40)), List.of(read(2, 0x80)), 0x55);
        for (int length = NodeMessageDescriptor.BODY_OFFSET; length < whole.limit(); length++) {
            ByteBuffer cut =
                    ByteBuffer.wrap(Arrays.copyOf(bytes(whole), length)).order(ByteOrder.LITTLE_ENDIAN);
            WriteSet writes = TransactionMessages.isValid(cut) ? TransactionMessages.writes(cut) : WriteSet.NONE;
            assertTrue(
                    writes.entries().isEmpty()
                            || TransactionMessages.reads(cut, writes).isEmpty(),
                    "length " + length);
        }
    }

    @Test
    void shouldLayOutAFunctionLikeThisAndTakeNoneThatIsCut() {
        ByteBuffer run = TransactionMessages.run(ID, FarmAddress.of(7, 0x40), 0x33, new byte[] {1, 2, 3});
        assertEquals(NodeMessageKind.RUN, NodeMessageDescriptor.kind(run));
        assertArrayEquals(
                HexFormat.of()
                        .parseHex("03000000090000007011010000000000" + "4000000007000000" + "3300000003000000010203"),
                body(run));
        assertEquals(FarmAddress.of(7, 0x40), TransactionMessages.address(run));
        assertEquals(0x33, TransactionMessages.function(run));
        assertEquals(3, TransactionMessages.argument(run).limit());
        for (int length = NodeMessageDescriptor.BODY_OFFSET; length < run.limit(); length++) {
            ByteBuffer cut = ByteBuffer.wrap(Arrays.copyOf(bytes(run), length)).order(ByteOrder.LITTLE_ENDIAN);
            assertFalse(TransactionMessages.isValid(cut), "length " + length);
        }
        for (int lie : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 4}) {
            run.putInt(NodeMessageDescriptor.BODY_OFFSET + TxId.LENGTH + Long.BYTES + Integer.BYTES, lie);
            assertFalse(TransactionMessages.isValid(run), "bytes=" + lie);
        }
    }

    private static byte[] bytes(ByteBuffer message) {
        byte[] bytes = new byte[message.limit()];
        message.get(0, bytes);
        return bytes;
    }

    private static byte[] body(ByteBuffer message) {
        return Arrays.copyOfRange(bytes(message), NodeMessageDescriptor.BODY_OFFSET, message.limit());
    }

    @Test
    void shouldTakeNothingFromAMessageThatIsCutOrLies() {
        ByteBuffer whole = TransactionMessages.prepare(ID, new TreeSet<>(Set.of(1)), List.of(write(1, 0x40)));
        for (int length = NodeMessageDescriptor.BODY_OFFSET; length < whole.limit(); length++) {
            ByteBuffer cut =
                    ByteBuffer.wrap(Arrays.copyOf(bytes(whole), length)).order(ByteOrder.LITTLE_ENDIAN);
            assertTrue(
                    !TransactionMessages.isValid(cut)
                            || TransactionMessages.writes(cut).entries().isEmpty(),
                    "length " + length);
        }
        for (int at = NodeMessageDescriptor.BODY_OFFSET + TxId.LENGTH; at < whole.limit() - 24; at++) {
            ByteBuffer lie = ByteBuffer.wrap(bytes(whole)).order(ByteOrder.LITTLE_ENDIAN);
            lie.put(at, (byte) 0xff); // must not throw
            assertFalse(TransactionMessages.writes(lie).entries().size() > 1);
        }
        ByteBuffer many = TransactionMessages.validate(ID, List.of(read(2, 0x80)));
        many.putInt(NodeMessageDescriptor.BODY_OFFSET + TxId.LENGTH, Integer.MAX_VALUE);
        assertEquals(List.of(), TransactionMessages.versions(many));
    }
}
