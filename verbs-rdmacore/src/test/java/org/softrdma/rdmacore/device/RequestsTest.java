package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.rdmacore.fake.DelegatingOperations;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** Atomics, immediates and SENDs that take a key back, as the C structures have them. */
@Timeout(60)
class RequestsTest {
    private static final int IMMEDIATE = 0x01020384;
    private static final AccessFlag[] ATOMIC = {AccessFlag.REMOTE_ATOMIC};

    private static long word(MemoryRegion region) {
        return region.memory().get(ValueLayout.JAVA_LONG, 0);
    }

    private static void word(MemoryRegion region, long value) {
        region.memory().set(ValueLayout.JAVA_LONG, 0, value);
    }

    @Test
    void shouldAddAndSwapAndFetchWhatWasThere() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            QueuePair requester = pair.connect().connecting();
            MemoryRegion target = pair.region(64, AccessFlag.LOCAL_WRITE, ATOMIC);
            MemoryRegion result = pair.region(64, AccessFlag.READ_SINK);
            word(target, 40);

            requester.postFetchAndAdd(1, result, 0, target.address(), target.rkey(), 2, SendFlags.SIGNALLED);
            WorkCompletion added = pair.success(requester, 1);
            assertEquals(CompletionOpcode.FETCH_AND_ADD, added.opcode());
            assertEquals(Long.BYTES, added.byteLength());
            assertEquals(40, word(result));
            assertEquals(42, word(target));

            requester.postCompareAndSwap(2, result, 0, target.address(), target.rkey(), 41, -1, SendFlags.SIGNALLED);
            assertEquals(
                    CompletionOpcode.COMPARE_AND_SWAP,
                    pair.success(requester, 2).opcode());
            assertEquals(42, word(result));
            assertEquals(42, word(target), "swapped although it was not 41");

            requester.postCompareAndSwap(
                    3, result, 0, target.address(), target.rkey(), 42, Long.MIN_VALUE, SendFlags.SIGNALLED);
            pair.success(requester, 3);
            assertEquals(Long.MIN_VALUE, word(target));
        }
    }

    /** librxe does, and says EINVAL; nothing was posted, and the queue pair goes on. */
    @Test
    void shouldPostNothingWhenTheLibraryRefusesAMisalignedAtomic() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            QueuePair requester = pair.connect().connecting();
            MemoryRegion target = pair.region(64, AccessFlag.LOCAL_WRITE, ATOMIC);
            MemoryRegion result = pair.region(64, AccessFlag.READ_SINK);

            assertThrows(
                    VerbsException.class,
                    () -> requester.postFetchAndAdd(
                            1, result, 0, target.address() + 4, target.rkey(), 1, SendFlags.SIGNALLED));

            assertEquals(QueuePairState.READY_TO_SEND, requester.state());
            requester.postFetchAndAdd(2, result, 0, target.address(), target.rkey(), 1, SendFlags.SIGNALLED);
            pair.success(requester, 2);
        }
    }

    @Test
    void shouldHandOverImmediatesOfSendsAndWrites() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            ConnectedPair connection = pair.connect();
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK, AccessFlag.REMOTE_WRITE);
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);
            word(source, 7);
            connection.accepting().postReceive(10, inbox, 0, 8);
            connection.accepting().postReceive(11, inbox, 0, 8);
            connection.accepting().postReceive(12, inbox, 0, 8);

            connection.connecting().postSendImmediate(1, source, 0, 8, IMMEDIATE, SendFlags.NONE);
            WorkCompletion sent = pair.success(connection.accepting(), 10);
            assertEquals(CompletionOpcode.RECEIVE, sent.opcode());
            assertEquals(8, sent.byteLength());
            assertEquals(IMMEDIATE, sent.immediate());
            assertFalse(sent.hasInvalidatedKey());

            connection
                    .connecting()
                    .postWriteImmediate(2, source, 0, 4, inbox.address() + 16, inbox.rkey(), -2, SendFlags.SIGNALLED);
            WorkCompletion written = pair.success(connection.accepting(), 11);
            assertEquals(CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, written.opcode());
            assertEquals(4, written.byteLength());
            assertEquals(-2, written.immediate());
            assertEquals(7, inbox.memory().get(ValueLayout.JAVA_INT, 16));
            assertEquals(
                    CompletionOpcode.WRITE,
                    pair.success(connection.connecting(), 2).opcode());

            connection.connecting().postSend(3, source, 0, 8, SendFlags.NONE);
            assertFalse(pair.success(connection.accepting(), 12).hasImmediate());
        }
    }

    /** The bytes at the field are what counts: two wrong byte orders would agree with each other. */
    @Test
    void shouldWriteImmediatesInNetworkOrderAndKeysInThatOfTheMachine() throws Exception {
        List<byte[]> fields = new CopyOnWriteArrayList<>();
        FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false) {
            @Override
            public Operations operations(long context) {
                return new DelegatingOperations(super.operations(context)) {
                    @Override
                    public int postSend(long queuePair, long workRequests, long bad) {
                        fields.add(CMemory.getBytes(workRequests + WorkRequestAbi.SEND_IMMEDIATE, Integer.BYTES));
                        return super.postSend(queuePair, workRequests, bad);
                    }
                };
            }
        };
        try (FakePair pair = new FakePair(library)) {
            QueuePair requester = pair.connect().connecting();
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);

            requester.postSendImmediate(1, source, 0, 8, IMMEDIATE, SendFlags.NONE);
            requester.postSendInvalidate(2, source, 0, 8, IMMEDIATE, SendFlags.NONE);
            requester.postSend(3, source, 0, 8, SendFlags.NONE);

            assertArrayEquals(new byte[] {1, 2, 3, (byte) 0x84}, fields.get(0));
            assertArrayEquals(new byte[] {(byte) 0x84, 3, 2, 1}, fields.get(1));
            assertArrayEquals(new byte[4], fields.get(2), "left over from an earlier request");
        }
    }

    @Test
    void shouldTellOfTheDeviceWhatItHas() throws Exception {
        try (FakePair roce = FakePair.roce();
                FakePair iwarp = FakePair.iwarp()) {
            for (Feature feature : List.of(
                    Feature.ATOMICS,
                    Feature.WRITE_IMMEDIATE,
                    Feature.SEND_IMMEDIATE,
                    Feature.SEND_INVALIDATE,
                    Feature.MEMORY_WINDOWS,
                    Feature.QUEUE_RESIZE,
                    Feature.REREGISTRATION)) {
                assertTrue(roce.device.capabilities().has(feature), feature::name);
                assertFalse(iwarp.device.capabilities().has(feature), feature::name);
            }
            for (FakePair each : List.of(roce, iwarp)) {
                assertTrue(each.device.capabilities().has(Feature.SHARED_RECEIVE_QUEUES));
                assertTrue(each.device.capabilities().has(Feature.ASYNC_EVENTS));
                assertFalse(each.device.capabilities().has(Feature.GLOBAL_ATOMICS));
                assertEquals(1000, each.device.capabilities().maxSharedReceiveWorkRequests());
            }
            assertEquals(4096, roce.device.capabilities().maxMemoryWindows());
            assertEquals(0, iwarp.device.capabilities().maxMemoryWindows());
        }
    }

    @Test
    void shouldRefuseWhatTheDeviceLacksAndSayWhat() throws Exception {
        try (FakePair pair = FakePair.iwarp()) {
            QueuePair requester = pair.connect().connecting();
            MemoryRegion region = pair.region(64, AccessFlag.LOCAL_WRITE);
            SendWorkRequestList list = new SendWorkRequestList(2);
            list.next().send(1, SendFlags.NONE);
            list.next().fetchAndAdd(2, 0, 0, 1, SendFlags.NONE).add(region, 0, 8);

            expectLack(Feature.ATOMICS, () -> requester.postFetchAndAdd(1, region, 0, 0, 0, 1, 0));
            expectLack(Feature.ATOMICS, () -> requester.postCompareAndSwap(1, region, 0, 0, 0, 1, 2, 0));
            expectLack(Feature.WRITE_IMMEDIATE, () -> requester.postWriteImmediate(1, region, 0, 8, 0, 0, 1, 0));
            expectLack(Feature.SEND_IMMEDIATE, () -> requester.postSendImmediate(1, region, 0, 8, 1, 0));
            expectLack(Feature.SEND_INVALIDATE, () -> requester.postSendInvalidate(1, region, 0, 8, 1, 0));
            expectLack(Feature.MEMORY_WINDOWS, () -> requester.postInvalidate(1, 1, 0));
            expectLack(Feature.MEMORY_WINDOWS, pair.domain::allocateWindow);
            expectLack(Feature.ATOMICS, () -> pair.region(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
            expectLack(Feature.MEMORY_WINDOWS, () -> pair.region(64, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS));
            expectLack(Feature.ATOMICS, () -> requester.post(list));
            assertEquals(1, list.accepted());
        }
    }

    private static void expectLack(Feature feature, org.junit.jupiter.api.function.Executable call) {
        VerbsException refused = assertThrows(VerbsException.class, call);
        assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
        assertTrue(String.valueOf(refused.getMessage()).contains(feature.name()), refused::getMessage);
    }

    /** All kinds in one chain, so that no field of one is left to the next. */
    @Test
    void shouldPostAChainOfAllKinds() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            ConnectedPair connection = pair.connect();
            MemoryRegion target =
                    pair.region(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_WRITE);
            MemoryRegion local = pair.region(64, AccessFlag.READ_SINK, AccessFlag.BIND_WINDOWS);
            connection.accepting().postReceive(10, target, 0, 0);
            connection.accepting().postReceive(11, target, 0, 0);
            var window = pair.own(pair.domain.allocateWindow());
            SendWorkRequestList list = new SendWorkRequestList(6);
            list.next()
                    .writeImmediate(1, target.address(), target.rkey(), -1, SendFlags.SIGNALLED)
                    .add(local, 0, 8);
            list.next()
                    .bindWindow(2, window, Set.of(AccessFlag.REMOTE_READ), SendFlags.SIGNALLED)
                    .add(local, 0, 64);
            list.next()
                    .fetchAndAdd(3, target.address(), target.rkey(), 5, SendFlags.SIGNALLED)
                    .add(local, 8, 8);
            list.next().read(4, local.address(), 0, SendFlags.NONE);
            list.next().sendImmediate(5, 9, SendFlags.SIGNALLED);
            list.next()
                    .write(6, target.address() + 8, target.rkey(), SendFlags.SIGNALLED)
                    .add(local, 8, 8);

            assertEquals(PostStatus.ACCEPTED, connection.connecting().post(list));

            pair.success(connection.accepting(), 10);
            pair.success(connection.connecting(), 1);
            assertEquals(
                    CompletionOpcode.BIND_WINDOW,
                    pair.success(connection.connecting(), 2).opcode());
            pair.success(connection.connecting(), 3);
            assertEquals(9, pair.success(connection.accepting(), 11).immediate());
            pair.success(connection.connecting(), 5);
            pair.success(connection.connecting(), 6);
            assertEquals(5, word(target));
        }
    }

    @Test
    void shouldNameEveryOpcodeOfTheHeader() {
        int[] codes = {
            WorkRequestAbi.OPCODE_WRITE,
            WorkRequestAbi.OPCODE_WRITE_IMMEDIATE,
            WorkRequestAbi.OPCODE_SEND,
            WorkRequestAbi.OPCODE_SEND_IMMEDIATE,
            WorkRequestAbi.OPCODE_READ,
            WorkRequestAbi.OPCODE_COMPARE_AND_SWAP,
            WorkRequestAbi.OPCODE_FETCH_AND_ADD,
            WorkRequestAbi.OPCODE_INVALIDATE,
            WorkRequestAbi.OPCODE_BIND_WINDOW,
            WorkRequestAbi.OPCODE_SEND_INVALIDATE
        };
        for (int i = 0; i < codes.length; i++) {
            assertEquals(i, codes[i]);
        }
        assertEquals(codes.length, SendOpcode.values().length);
        assertEquals(SendOpcode.SEND, new SendWorkRequest().opcode());
    }
}
