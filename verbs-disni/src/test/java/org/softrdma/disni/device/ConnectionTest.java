package org.softrdma.disni.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.verify;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.InOrder;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Connecting and accepting: events in every order, deadlines, errors, and that no call comes which would end the
 * process.
 */
class ConnectionTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final InetSocketAddress ANY = new InetSocketAddress(0);

    private final MockedDisni disni = new MockedDisni();
    private final VerbsDevice device = disni.device(WireProtocol.ROCE);
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionQueue completions = device.createCompletionQueue(8);
    private final QueuePairAttributes attributes = QueuePairAttributes.of(completions, QueuePairLimits.of(4, 4));

    /** Everything that was made can be closed, and every id was destroyed. */
    @AfterEach
    void close() throws IOException {
        completions.close();
        domain.close();
        device.close();
        for (DisniLibrary.Id id : disni.ids) {
            verify(id).destroy();
        }
        verify(disni.channel).destroy();
    }

    private Connector connector() {
        return device.resolve(MockedDisni.PEER, LONG_NS);
    }

    private VerbsException expectFailure(VerbsErrorCode code, Executable action) {
        VerbsException failure = assertThrows(VerbsException.class, action);
        assertEquals(code, failure.code(), failure.getMessage());
        return failure;
    }

    // ---- resolving

    @Test
    void shouldBindToTheDevicesAddressBeforeItResolves() throws IOException {
        connector().close();
        InOrder order = inOrder(disni.last());
        order.verify(disni.last()).bind(new InetSocketAddress(MockedDisni.ADDRESS, 0));
        order.verify(disni.last()).resolveAddress(any(), anyInt());
        order.verify(disni.last()).resolveRoute(anyInt());
        order.verify(disni.last()).destroy();
        verify(disni.last(), never()).connect();
    }

    @ParameterizedTest
    @EnumSource(
            value = CmEventType.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ADDR_RESOLVED", "CONNECT_REQUEST", "TIMEWAIT_EXIT", "ADDR_CHANGE"})
    void shouldFailWhenAnotherEventComesThanTheAddress(CmEventType event) throws IOException {
        disni.afterAddress = List.of(event);
        assertThrows(VerbsException.class, this::connector);
        verify(disni.last(), never()).resolveRoute(anyInt());
    }

    @Test
    void shouldFailWhenThereIsNoRoute() throws IOException {
        disni.afterRoute = List.of(CmEventType.ROUTE_ERROR);
        VerbsException failure = expectFailure(VerbsErrorCode.UNREACHABLE, this::connector);
        assertTrue(String.valueOf(failure.getMessage()).contains("192.0.2.2:7174"), failure.getMessage());
        verify(disni.last()).destroy();
    }

    @Test
    void shouldTimeOutWhenNoEventComes() {
        disni.afterRoute = List.of();
        expectFailure(VerbsErrorCode.TIMED_OUT, () -> device.resolve(MockedDisni.PEER, SHORT_NS));
    }

    @Test
    void shouldIgnoreEventsOfNobodyWhileItResolves() {
        disni.happen(CmEventType.DISCONNECTED, null);
        disni.happen(CmEventType.DISCONNECTED, mock(DisniLibrary.Id.class));
        connector().close();
    }

    @Test
    void shouldRefuseVersion6WhenItResolvesOrListens() {
        InetSocketAddress six = new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1);
        expectFailure(VerbsErrorCode.NOT_SUPPORTED, () -> device.resolve(six, LONG_NS));
        expectFailure(VerbsErrorCode.NOT_SUPPORTED, () -> device.listen(six, 1));
    }

    // ---- connecting

    @Test
    void shouldConnect() throws IOException {
        Connector connector = connector();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        assertEquals(MockedDisni.PAIR_NUMBER, pair.number());
        assertArrayEquals(new byte[0], connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        assertEquals(OptionalInt.empty(), pair.connectionCapabilities().maxOutboundReads());
        connector.close();
        verify(disni.last(), never()).destroy();
        pair.close();
        InOrder order = inOrder(disni.last());
        order.verify(disni.last()).disconnect();
        order.verify(disni.last()).destroyQueuePair();
        order.verify(disni.last()).destroy();
        assertEquals(1L, device.counters().get("connectionsEstablished"));
    }

    @ParameterizedTest
    @CsvSource({
        "REJECTED, REJECTED",
        "UNREACHABLE, UNREACHABLE",
        "CONNECT_ERROR, CONNECTION_LOST",
        "DISCONNECTED, CONNECTION_LOST",
        "DEVICE_REMOVAL, NO_DEVICE",
        "ROUTE_RESOLVED, OTHER"
    })
    void shouldFailWhenAnotherEventComesThanEstablished(CmEventType event, VerbsErrorCode code) {
        disni.afterConnect = List.of(event);
        Connector connector = connector();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        VerbsException failure = expectFailure(code, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        if (code == VerbsErrorCode.REJECTED) {
            assertArrayEquals(
                    new byte[0],
                    assertInstanceOf(ConnectionRejectedException.class, failure).privateData());
        }
        assertEquals(QueuePairState.ERROR, pair.state());
        pair.close();
        connector.close();
    }

    @Test
    void shouldFailWhenTheCallFails() throws IOException {
        Connector connector = connector();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        doThrow(new IOException("j2c::connect: rdma_connect failed: whatever\n"))
                .when(disni.last())
                .connect();
        VerbsException failure =
                expectFailure(VerbsErrorCode.OTHER, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        assertTrue(String.valueOf(failure.getMessage()).startsWith("j2c::connect"), failure.getMessage());
        connector.close();
        pair.close();
    }

    /** The id's connect call says that it has begun, and stays until it may end. */
    private static void holdConnect(DisniLibrary.Id id, CountDownLatch begun, CountDownLatch end) throws IOException {
        doAnswer(call -> {
                    begun.countDown();
                    end.await();
                    return null;
                })
                .when(id)
                .connect();
    }

    @Test
    void shouldDestroyTheIdOnlyAfterAConnectThatIsUnderWay() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Connector connector = connector();
        DisniLibrary.Id id = disni.last();
        holdConnect(id, begun, end);
        QueuePair pair = connector.createQueuePair(domain, attributes);
        expectFailure(VerbsErrorCode.TIMED_OUT, () -> connector.connect(ConnectionParameters.DEFAULT, SHORT_NS));
        begun.await();
        connector.close();
        Thread closing = Thread.ofPlatform().start(pair::close);
        verify(id, never()).destroyQueuePair();
        verify(id, never()).destroy();
        end.countDown();
        closing.join();
        InOrder order = inOrder(id);
        order.verify(id).connect();
        order.verify(id).destroyQueuePair();
        order.verify(id).destroy();
    }

    @Test
    void shouldServeOtherConnectionsWhenAQueuePairClosesWhileItConnects() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Connector connector = connector();
        DisniLibrary.Id id = disni.last();
        holdConnect(id, begun, end);
        QueuePair pair = connector.createQueuePair(domain, attributes);
        Thread connecting = Thread.ofPlatform()
                .start(() -> assertThrows(
                        VerbsException.class, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS)));
        begun.await();
        Thread closing = Thread.ofPlatform().start(pair::close);
        while (closing.getState() != Thread.State.WAITING && closing.isAlive()) {
            Thread.onSpinWait();
        }
        disni.happen(CmEventType.DISCONNECTED, id);
        connector().close(); // needs events, which come after that one
        end.countDown();
        closing.join();
        connecting.join();
        connector.close();
    }

    @Test
    void shouldRefuseWhatDoesNotBelongThere() throws IOException {
        Connector connector = connector();
        assertThrows(IllegalStateException.class, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        QueuePair pair = connector.createQueuePair(domain, attributes);
        assertThrows(IllegalStateException.class, () -> connector.createQueuePair(domain, attributes));
        assertThrows(
                IllegalArgumentException.class,
                () -> connector.connect(ConnectionParameters.DEFAULT.withPrivateData(new byte[1]), LONG_NS));
        verify(disni.last(), never()).connect();
        connector.close();
        assertEquals(QueuePairState.ERROR, pair.state());
        assertThrows(IllegalStateException.class, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        verify(disni.last(), never()).connect();
        pair.close();
        pair.close();
    }

    @Test
    void shouldHearOfTheEndOnce() throws Exception {
        Connector connector = connector();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        connector.connect(ConnectionParameters.DEFAULT, LONG_NS);
        disni.happen(CmEventType.DISCONNECTED, disni.last());
        disni.happen(CmEventType.DISCONNECTED, disni.last());
        disni.happen(CmEventType.TIMEWAIT_EXIT, disni.last());
        assertEquals(
                "the connection has ended",
                pair.disconnected().toCompletableFuture().get(30, TimeUnit.SECONDS));
        assertEquals(QueuePairState.ERROR, pair.state());
        pair.close();
        connector.close();
        assertEquals(1L, device.counters().get("connectionsClosed"));
    }

    // ---- accepting

    private ConnectionRequest request(Listener listener) {
        disni.request(disni.last());
        return listener.next(LONG_NS).orElseThrow();
    }

    @Test
    void shouldListenOnTheDevicesAddressWhenItIsGivenAWildcard() throws IOException {
        Listener listener = device.listen(ANY, 1);
        verify(disni.last()).bind(new InetSocketAddress(MockedDisni.ADDRESS, 0));
        assertEquals(4711, listener.localAddress().getPort());
        listener.close();
    }

    @Test
    void shouldAccept() throws IOException {
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            assertEquals(MockedDisni.PEER, request.remoteAddress());
            assertEquals(OptionalInt.empty(), request.peerOutboundReads());
            assertThrows(IllegalStateException.class, () -> request.accept(ConnectionParameters.DEFAULT));
            verify(disni.last(), never()).accept();
            QueuePair pair = request.createQueuePair(domain, attributes);
            request.accept(ConnectionParameters.DEFAULT);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
            assertThrows(IllegalStateException.class, () -> request.reject(new byte[0]));
            request.close();
            verify(disni.last(), never()).destroy();
            pair.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void shouldDestroyTheQueuePairBeforeTheIdWhenItRejects(boolean withQueuePair, boolean byClosing)
            throws IOException {
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            DisniLibrary.Id id = disni.last();
            QueuePair pair = withQueuePair ? request.createQueuePair(domain, attributes) : null;
            if (byClosing) {
                request.close();
            } else {
                request.reject(new byte[0]);
            }
            InOrder order = inOrder(id);
            if (pair != null) {
                assertEquals(QueuePairState.ERROR, pair.state());
                order.verify(id).destroyQueuePair();
            }
            order.verify(id).destroy();
            if (pair != null) {
                pair.close();
            }
            request.close();
            verify(id, never()).accept();
        }
    }

    @Test
    void shouldRejectWhatFindsNoRoomOrIsNotTaken() throws IOException {
        Listener listener = device.listen(ANY, 1);
        DisniLibrary.Id listening = disni.last();
        DisniLibrary.Id first = disni.request(listening);
        DisniLibrary.Id second = disni.request(listening);
        verify(second, timeout(30_000)).destroy();
        verify(first, never()).destroy();
        listener.close();
        verify(first).destroy();
        assertTrue(listener.next(0).isEmpty());
    }

    @Test
    void shouldEnterErrorWhenThePeerGivesUp() {
        disni.afterAccept = List.of(CmEventType.DISCONNECTED);
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            QueuePair pair = request.createQueuePair(domain, attributes);
            try {
                request.accept(ConnectionParameters.DEFAULT);
            } catch (VerbsException e) { // the event came first
                assertEquals(VerbsErrorCode.CONNECTION_LOST, e.code());
            }
            awaitError(pair);
            request.close();
            pair.close();
        }
    }

    /** {@code rdma_accept} does not wait for the peer either, so a silent one holds no thread that accepts. */
    @Test
    void shouldTakeRequestsAsSoonAsItHasAcceptedThoughThePeerIsSilent() {
        disni.afterAccept = List.of();
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            DisniLibrary.Id id = disni.last();
            QueuePair pair = request.createQueuePair(domain, attributes);
            request.accept(ConnectionParameters.DEFAULT);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
            disni.happen(CmEventType.UNREACHABLE, id);
            awaitError(pair);
            pair.close();
            request.close();
        }
    }

    /**
     * On RoCE a disconnect between the reply and the peer's confirmation goes nowhere (ib_cm: no DREQ in state
     * REP_SENT).
     */
    @Test
    void shouldDisconnectAgainWhenThePeerConfirmsAfterADisconnect() throws IOException {
        disni.afterAccept = List.of();
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            DisniLibrary.Id id = disni.last();
            QueuePair pair = request.createQueuePair(domain, attributes);
            request.accept(ConnectionParameters.DEFAULT);
            pair.disconnect();
            disni.happen(CmEventType.ESTABLISHED, id);
            // To ERROR at once, on the device's thread, and for the peer that confirms.
            verify(id, timeout(TimeUnit.NANOSECONDS.toMillis(LONG_NS)).times(3)).disconnect();
            pair.close();
            request.close();
        }
    }

    /** A peer that closes before our confirmation has come to it rejects a connection that is established here. */
    @Test
    void shouldEndWhenAConnectionIsRejectedAfterItWasEstablished() {
        Connector connector = connector();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        connector.connect(ConnectionParameters.DEFAULT, LONG_NS);
        disni.happen(CmEventType.REJECTED, disni.last());
        awaitError(pair);
        pair.close();
        connector.close();
    }

    /** The peer may be served and gone before the thread that accepts runs again. */
    @Test
    void shouldHaveAcceptedWhenThePeerIsGoneBeforeTheCallReturns() throws IOException {
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            DisniLibrary.Id id = disni.last();
            QueuePair pair = request.createQueuePair(domain, attributes);
            doAnswer(call -> {
                        disni.happen(CmEventType.ESTABLISHED, id);
                        disni.happen(CmEventType.DISCONNECTED, id);
                        awaitError(pair);
                        return null;
                    })
                    .when(id)
                    .accept();
            request.accept(ConnectionParameters.DEFAULT);
            assertEquals(QueuePairState.ERROR, pair.state());
            pair.close();
            request.close();
        }
    }

    private static void awaitError(QueuePair pair) {
        long startNs = System.nanoTime();
        while (pair.state() != QueuePairState.ERROR) {
            assertTrue(System.nanoTime() - startNs < LONG_NS, () -> "still " + pair.state());
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldBeRefusedWhenTheDeviceHasChildren() {
        expectFailure(VerbsErrorCode.BUSY, device::close);
        expectFailure(VerbsErrorCode.BUSY, () -> {
            Connector connector = connector();
            QueuePair pair = connector.createQueuePair(domain, attributes);
            try {
                domain.close();
            } finally {
                pair.close();
                connector.close();
            }
        });
    }

    @Test
    void shouldNotCloseTheDeviceUnderAConnectorOrARequest() {
        completions.close();
        domain.close();
        Connector connector = connector();
        expectFailure(VerbsErrorCode.BUSY, device::close);
        connector.close();
        ConnectionRequest request;
        try (Listener listener = device.listen(ANY, 1)) {
            request = request(listener);
        }
        expectFailure(VerbsErrorCode.BUSY, device::close);
        request.close();
    }

    @Test
    void shouldNotCloseTheDeviceWhileItResolves() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        DisniLibrary.Id id = disni.id();
        doAnswer(call -> {
                    begun.countDown();
                    return null;
                })
                .when(id)
                .resolveAddress(any(), anyInt());
        doReturn(id).when(disni.channel).createId();
        completions.close();
        domain.close();
        CompletableFuture<Connector> resolving = CompletableFuture.supplyAsync(this::connector);
        begun.await();
        try {
            expectFailure(VerbsErrorCode.BUSY, device::close);
            verify(disni.channel, never()).destroy();
        } finally {
            disni.happen(CmEventType.ADDR_RESOLVED, id);
            resolving.join().close();
        }
    }

    @Test
    void shouldNotDestroyAListenerWhileAnEventIsTaken() throws Exception {
        CountDownLatch taking = new CountDownLatch(1);
        CountDownLatch taken = new CountDownLatch(1);
        Listener listener = device.listen(ANY, 1);
        DisniLibrary.Id id = disni.last();
        disni.taking = () -> {
            taking.countDown();
            taken.await();
        };
        taking.await();
        Thread closing = Thread.ofPlatform().start(listener::close);
        while (closing.getState() != Thread.State.WAITING && closing.isAlive()) {
            Thread.onSpinWait();
        }
        verify(id, never()).destroy();
        taken.countDown();
        closing.join();
        verify(id).destroy();
    }

    @Test
    void shouldFailWhenTheCallEndsInAnError() throws IOException {
        Connector connector = connector();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        doThrow(new NoClassDefFoundError("whatever")).when(disni.last()).connect();
        VerbsException failure =
                expectFailure(VerbsErrorCode.OTHER, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        assertTrue(String.valueOf(failure.getCause()).contains("NoClassDefFoundError"), failure.toString());
        connector.close();
        pair.close();
    }

    @Test
    void shouldFailWhenTheQueuePairEndedBeforeItWasConnected() throws IOException {
        Connector connector = connector();
        DisniLibrary.Id connecting = disni.last();
        QueuePair pair = connector.createQueuePair(domain, attributes);
        doAnswer(call -> {
                    pair.disconnect();
                    disni.happen(CmEventType.ESTABLISHED, connecting);
                    return null;
                })
                .when(connecting)
                .connect();
        expectFailure(VerbsErrorCode.CONNECTION_LOST, () -> connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
        pair.close();
        connector.close();
        try (Listener listener = device.listen(ANY, 1)) {
            ConnectionRequest request = request(listener);
            DisniLibrary.Id accepting = disni.last();
            QueuePair accepted = request.createQueuePair(domain, attributes);
            doAnswer(call -> {
                        accepted.disconnect();
                        disni.happen(CmEventType.ESTABLISHED, accepting);
                        return null;
                    })
                    .when(accepting)
                    .accept();
            expectFailure(VerbsErrorCode.CONNECTION_LOST, () -> request.accept(ConnectionParameters.DEFAULT));
            request.close();
            accepted.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Input/output error", "Device or resource busy"})
    void shouldCloseEverythingWhateverTheQueuesDestructionComesTo(String error) throws IOException {
        CompletionQueue queue = device.createCompletionQueue(8);
        ProtectionDomain other = device.allocateProtectionDomain();
        doThrow(new IOException("j2c::destroyCQ: ibv_destroy_cq failed: " + error))
                .when(disni.queues.getLast())
                .destroy();
        doThrow(new IOException("j2c::deallocPd: ibv_dealloc_pd failed: " + error))
                .doNothing()
                .when(disni.domain)
                .deallocate();
        if (error.startsWith("Input")) {
            queue.close();
            other.close();
        } else {
            expectFailure(VerbsErrorCode.BUSY, queue::close);
            expectFailure(VerbsErrorCode.BUSY, other::close);
        }
    }
}
