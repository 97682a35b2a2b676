package org.softrdma.verbs.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/** Every way to post becomes one checked request, and a list is given to the device chain by chain. */
class PostingQueuePairTest {
    private static final int ROOM = 5;
    private static final int CHAIN = 2;

    private final Recording queuePair = new Recording();
    private final MemoryRegion region = region();

    /** Lets one in at a time. */
    private static final class Gate implements PostGate {
        boolean entered;

        @Override
        public void enter() {
            assertFalse(entered);
            entered = true;
        }

        @Override
        public void exit() {
            assertTrue(entered);
            entered = false;
        }
    }

    /** A provider that remembers what it is told, and checks that it is told in order. */
    private static final class Recording extends ChainingQueuePair {
        private final Gate gate;
        final List<String> written = new ArrayList<>();
        final List<Integer> given = new ArrayList<>();
        QueuePairState state = QueuePairState.READY_TO_SEND;
        boolean reads = true;
        boolean shares;
        int deviceTakes = Integer.MAX_VALUE;
        boolean refuses;

        Recording() {
            this(QueuePairType.RELIABLE_CONNECTION);
        }

        Recording(QueuePairType type) {
            this(type, new Gate());
        }

        private Recording(QueuePairType type, Gate gate) {
            super(rules(type), gate, gate);
            this.gate = gate;
        }

        private static PostingRules rules(QueuePairType type) {
            return new PostingRules(
                    QueuePairLimits.DEFAULT,
                    Capabilities.builder("test", "none")
                            .maxScatterGather(1)
                            .maxScatterGatherRead(1)
                            .maxMessageLength(1000)
                            .maxTransferUnit(256)
                            .features(EnumSet.allOf(Feature.class))
                            .build(),
                    type);
        }

        @Override
        protected boolean allowsReads() {
            return reads;
        }

        @Override
        protected int longestChain() {
            return CHAIN;
        }

        @Override
        protected boolean write(int position, SendWorkRequest request) {
            assertTrue(gate.entered);
            assertEquals(
                    written.size() - given.stream().mapToInt(Integer::intValue).sum(), position);
            if (written.size() == ROOM) {
                return false;
            }
            written.add(request.wrId() + " " + request.opcode() + " " + local(request) + " to "
                    + request.remoteAddress() + " key " + request.rkey() + " flags " + request.flags()
                    + operands(request)
                    + (request.addressHandle() == null
                            ? ""
                            : " at " + request.addressHandle() + " " + request.remoteNumber() + " "
                                    + request.queueKey()));
            return true;
        }

        private static String local(SendWorkRequest request) {
            return request.local().size() == 0
                    ? "nothing"
                    : request.local().address(0) + "+" + request.local().length(0) + " key "
                            + request.local().lkey(0);
        }

        private static String operands(SendWorkRequest request) {
            return switch (request.opcode()) {
                case SEND, WRITE, READ, SEND_INVALIDATE, INVALIDATE -> "";
                case SEND_IMMEDIATE, WRITE_IMMEDIATE -> " immediate " + request.immediate();
                case COMPARE_AND_SWAP -> " if " + request.compareAdd() + " then " + request.swap();
                case FETCH_AND_ADD -> " add " + request.compareAdd();
                case BIND_WINDOW -> " window " + request.window() + " " + request.windowAccess();
            };
        }

        @Override
        protected boolean sharesReceives() {
            return shares;
        }

        @Override
        protected int give(int count) {
            assertTrue(gate.entered);
            int taken = Math.min(count, deviceTakes);
            given.add(taken);
            while (written.size() > given.stream().mapToInt(Integer::intValue).sum()) {
                written.removeLast();
            }
            if (refuses) {
                throw new IllegalArgumentException("the device refuses it");
            }
            return taken;
        }

        @Override
        protected long sendsAccepted() {
            return written.size();
        }

        @Override
        protected PostStatus take(ReceiveWorkRequest request) {
            assertTrue(gate.entered);
            written.add(request.wrId() + " RECV " + request.local().address(0) + "+"
                    + request.local().length(0));
            return PostStatus.ACCEPTED;
        }

        @Override
        public int number() {
            return 3;
        }

        @Override
        public QueuePairState state() {
            return state;
        }

        @Override
        public ProtectionDomain protectionDomain() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ConnectionCapabilities connectionCapabilities() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void disconnect() {}

        @Override
        public CompletionStage<String> disconnected() {
            return new CompletableFuture<>();
        }

        @Override
        public EndCause endCause() {
            return EndCause.UNKNOWN;
        }

        @Override
        public void close() {}
    }

    private static MemoryRegion region() {
        MemoryRegion region = mock(MemoryRegion.class);
        when(region.address()).thenReturn(5000L);
        when(region.lkey()).thenReturn(7);
        return region;
    }

    private static SendWorkRequestList list(int count) {
        SendWorkRequestList list = new SendWorkRequestList(count);
        for (int i = 0; i < count; i++) {
            list.next().write(i, 0, 0, SendFlags.NONE).add(i, 1, 0);
        }
        return list;
    }

    @Test
    void shouldTurnEveryWayToPostIntoOneRequest() {
        assertEquals(PostStatus.ACCEPTED, queuePair.postRead(1, region, 10, 20, 30, 40, SendFlags.SIGNALLED));
        assertEquals(PostStatus.ACCEPTED, queuePair.postWrite(2, region, 11, 21, 31, 41, SendFlags.FENCE));
        assertEquals(PostStatus.ACCEPTED, queuePair.postSend(3, region, 12, 22, SendFlags.SOLICITED));
        SendWorkRequest request = new SendWorkRequest();
        assertEquals(
                PostStatus.ACCEPTED,
                queuePair.post(request.read(1, 30, 40, SendFlags.SIGNALLED).add(region, 10, 20)));
        assertEquals(PostStatus.ACCEPTED, queuePair.postReceive(4, region, 13, 23));
        assertEquals(
                List.of(
                        "1 READ 5010+20 key 7 to 30 key 40 flags 2",
                        "2 WRITE 5011+21 key 7 to 31 key 41 flags 1",
                        "3 SEND 5012+22 key 7 to 0 key 0 flags 4",
                        "1 READ 5010+20 key 7 to 30 key 40 flags 2",
                        "4 RECV 5013+23"),
                queuePair.written);
    }

    @Test
    void shouldTurnEveryRequestOfAFeatureIntoOneRequest() {
        MemoryWindow window = mock(MemoryWindow.class, "w");
        Set<AccessFlag> access = Set.of(AccessFlag.REMOTE_READ);
        assertEquals(
                PostStatus.ACCEPTED, queuePair.postCompareAndSwap(1, region, 10, 30, 40, 50, 60, SendFlags.SIGNALLED));
        assertEquals(PostStatus.ACCEPTED, queuePair.postFetchAndAdd(2, region, 11, 31, 41, -51, SendFlags.FENCE));
        assertEquals(
                PostStatus.ACCEPTED, queuePair.postWriteImmediate(3, region, 12, 22, 32, 42, -52, SendFlags.SOLICITED));
        assertEquals(PostStatus.ACCEPTED, queuePair.postSendImmediate(4, region, 13, 23, 53, SendFlags.NONE));
        assertEquals(PostStatus.ACCEPTED, queuePair.postSendInvalidate(5, region, 14, 24, 44, SendFlags.NONE));
        assertEquals(
                List.of(
                        "1 COMPARE_AND_SWAP 5010+8 key 7 to 30 key 40 flags 2 if 50 then 60",
                        "2 FETCH_AND_ADD 5011+8 key 7 to 31 key 41 flags 1 add -51",
                        "3 WRITE_IMMEDIATE 5012+22 key 7 to 32 key 42 flags 4 immediate -52",
                        "4 SEND_IMMEDIATE 5013+23 key 7 to 0 key 0 flags 0 immediate 53",
                        "5 SEND_INVALIDATE 5014+24 key 7 to 0 key 44 flags 0"),
                queuePair.written);
        queuePair.written.clear();
        queuePair.given.clear();
        assertEquals(PostStatus.ACCEPTED, queuePair.postInvalidate(6, 46, SendFlags.SIGNALLED));
        assertEquals(
                PostStatus.ACCEPTED,
                queuePair.postBindWindow(7, window, region, 16, 2000, access, SendFlags.SIGNALLED));
        assertEquals(
                List.of(
                        "6 INVALIDATE nothing to 0 key 46 flags 2",
                        "7 BIND_WINDOW 5016+2000 key 7 to 0 key 0 flags 2 window w [REMOTE_READ]"),
                queuePair.written);
    }

    @Test
    void shouldRefuseAtomicsWhereTheConnectionAllowsNoReads() {
        queuePair.reads = false;
        assertThrows(
                IllegalStateException.class,
                () -> queuePair.postCompareAndSwap(1, region, 0, 0, 0, 0, 0, SendFlags.NONE));
        assertThrows(
                IllegalStateException.class, () -> queuePair.postFetchAndAdd(1, region, 0, 0, 0, 0, SendFlags.NONE));
        SendWorkRequest request =
                new SendWorkRequest().fetchAndAdd(1, 0, 0, 1, SendFlags.NONE).add(region, 0, Long.BYTES);
        assertThrows(IllegalStateException.class, () -> queuePair.post(request));
        assertEquals(List.of(), queuePair.written);
        assertFalse(queuePair.gate.entered);
        assertEquals(PostStatus.ACCEPTED, queuePair.postWriteImmediate(1, region, 0, 1, 0, 0, 0, SendFlags.NONE));
    }

    @Test
    void shouldRefuseAReceiveWhereReceivesAreShared() {
        queuePair.shares = true;
        assertThrows(IllegalStateException.class, () -> queuePair.postReceive(1, region, 0, 1));
        ReceiveWorkRequest request = new ReceiveWorkRequest().receive(1).add(region, 0, 1);
        assertThrows(IllegalStateException.class, () -> queuePair.post(request));
        assertEquals(List.of(), queuePair.written);
        assertFalse(queuePair.gate.entered);
    }

    @Test
    void shouldRefuseAWindowWithLocalRights() {
        MemoryWindow window = mock(MemoryWindow.class);
        Set<AccessFlag> access = Set.of(AccessFlag.LOCAL_WRITE);
        assertThrows(
                IllegalArgumentException.class,
                () -> queuePair.postBindWindow(1, window, region, 0, 1, access, SendFlags.NONE));
        assertEquals(List.of(), queuePair.written);
    }

    @Test
    void shouldRefuseBeforeAnythingIsWritten() {
        assertThrows(
                IllegalArgumentException.class, () -> queuePair.postSend(1, region, 0, 1001, SendFlags.NONE), "length");
        assertThrows(
                IllegalArgumentException.class, () -> queuePair.postRead(1, region, 0, 1, 0, 0, SendFlags.SOLICITED));
        queuePair.reads = false;
        assertThrows(IllegalStateException.class, () -> queuePair.postRead(1, region, 0, 1, 0, 0, SendFlags.NONE));
        queuePair.state = QueuePairState.INITIAL;
        assertThrows(IllegalStateException.class, () -> queuePair.postWrite(1, region, 0, 1, 0, 0, SendFlags.NONE));
        queuePair.state = QueuePairState.CLOSED;
        assertThrows(IllegalStateException.class, () -> queuePair.postReceive(1, region, 0, 1));
        assertEquals(List.of(), queuePair.written);
        assertFalse(queuePair.gate.entered);
    }

    @Test
    void shouldGiveTheDeviceAListChainByChain() {
        SendWorkRequestList list = list(ROOM);
        assertEquals(PostStatus.ACCEPTED, queuePair.post(list));
        assertEquals(List.of(2, 2, 1), queuePair.given);
        assertEquals(ROOM, list.accepted());
    }

    @Test
    void shouldStopAListAtTheFirstRequestThatDoesNotFit() {
        SendWorkRequestList list = list(ROOM + 2);
        assertEquals(PostStatus.QUEUE_FULL, queuePair.post(list));
        assertEquals(ROOM, list.accepted());
        SendWorkRequestList next = list(1);
        assertEquals(PostStatus.QUEUE_FULL, queuePair.post(next));
        assertEquals(0, next.accepted());
        assertEquals(PostStatus.QUEUE_FULL, queuePair.post(next.get(0)));
    }

    @Test
    void shouldStopAListAtTheFirstRequestThatTheDeviceDoesNotTake() {
        queuePair.deviceTakes = 1;
        SendWorkRequestList list = list(4);
        assertEquals(PostStatus.QUEUE_FULL, queuePair.post(list));
        assertEquals(1, list.accepted());
    }

    @Test
    void shouldPostWhatComesBeforeARefusedRequest() {
        SendWorkRequestList list = list(4);
        list.get(3).write(3, 0, 0, SendFlags.SOLICITED).add(0, 1, 0);
        assertThrows(IllegalArgumentException.class, () -> queuePair.post(list));
        assertEquals(3, list.accepted());
        assertEquals(List.of(2, 1), queuePair.given);
    }

    @Test
    void shouldCountWhatWasAcceptedWhenTheDeviceRefuses() {
        SendWorkRequestList list = list(4);
        queuePair.deviceTakes = 1;
        queuePair.refuses = true;
        assertThrows(IllegalArgumentException.class, () -> queuePair.post(list));
        assertEquals(1, list.accepted());
        assertFalse(queuePair.gate.entered);
    }

    @Test
    void shouldAddressDatagrams() {
        Recording datagrams = new Recording(QueuePairType.UNRELIABLE_DATAGRAM);
        AddressHandle host = mock(AddressHandle.class, "a host");

        datagrams.postSendTo(1, region, 2, 3, host, 17, -1, SendFlags.SIGNALLED);
        datagrams.postSendImmediateTo(4, region, 5, 6, host, 18, 7, 8, SendFlags.NONE);

        assertEquals(QueuePairType.UNRELIABLE_DATAGRAM, datagrams.type());
        assertEquals(2, datagrams.written.size());
        assertTrue(datagrams.written.get(0).endsWith(" flags 2 at a host 17 -1"), datagrams.written::toString);
        assertTrue(
                datagrams.written.get(1).endsWith(" flags 0 immediate 8 at a host 18 7"), datagrams.written::toString);
        assertThrows(IllegalArgumentException.class, () -> datagrams.postSend(1, region, 0, 1, SendFlags.SIGNALLED));
        assertThrows(
                IllegalArgumentException.class,
                () -> queuePair.postSendTo(1, region, 0, 1, host, 17, 0, SendFlags.SIGNALLED));
        assertEquals(List.of(), queuePair.written);
    }
}
