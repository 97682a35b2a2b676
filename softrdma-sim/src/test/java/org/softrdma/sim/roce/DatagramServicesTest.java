package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramService;

/** SIDR over UDP sockets: what an application is told of each answer, and what it may not offer. */
@Timeout(60)
class DatagramServicesTest {
    private static final int SERVICE = 77;
    private static final byte[] NO_DATA = {};
    private static final DatagramService OFFERED = new DatagramService(at("127.0.0.1", 0), 0x123, 5, NO_DATA);

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    /** The answer of a raw peer that has a status for everybody. */
    private static CompletableFuture<DatagramService> answered(int status, byte... data) throws Exception {
        int rawPort = RoceEnds.freePort();
        try (RoceEnds ends = new RoceEnds(
                        "epoll", Map.of("roce-address", "127.0.0.1", "roce-peer-port", Integer.toString(rawPort)));
                RawRocePeer peer = new RawRocePeer(at("127.0.0.1", rawPort), at("127.0.0.1", ends.port()), 1, 1)) {
            peer.answer(SERVICE, status, PrivateData.of(data));
            CompletableFuture<DatagramService> found = CompletableFuture.supplyAsync(() ->
                    ends.passive.device.resolveDatagrams(at("127.0.0.1", SERVICE), NO_DATA, RoceEnds.DEADLINE_NS));
            while (!found.isDone()) {
                peer.poll();
                Thread.onSpinWait();
            }
            return found;
        }
    }

    private static VerbsException failure(int status, byte... data) throws Exception {
        ExecutionException failed = assertThrows(ExecutionException.class, answered(status, data)::get);
        return (VerbsException) Objects.requireNonNull(failed.getCause());
    }

    @Test
    void shouldSayWhereTheDatagramsGo() throws Exception {
        DatagramService found = answered(ServiceReply.VALID, (byte) 9).get();
        assertEquals(RawRocePeer.QUEUE_PAIR, found.number());
        assertEquals(5, found.queueKey());
        assertEquals(9, found.privateData()[0]);
    }

    @Test
    void shouldTellARefusalFromAServiceThatNobodyOffers() throws Exception {
        VerbsException refused = failure(ServiceReply.REJECTED, (byte) 8);
        assertEquals(VerbsErrorCode.REJECTED, refused.code(), refused.getMessage());
        assertEquals(8, ((ConnectionRejectedException) refused).privateData()[0]);
        VerbsException nobody = failure(ServiceReply.NO_SERVICE);
        assertEquals(VerbsErrorCode.UNREACHABLE, nobody.code(), nobody.getMessage());
        VerbsException none = failure(ServiceReply.NO_QUEUE_PAIR);
        assertEquals(VerbsErrorCode.CONNECTION_LOST, none.code(), none.getMessage());
    }

    @Test
    void shouldGiveUpWhenTheTimeIsOver() {
        try (RoceEnds.Side alone = new RoceEnds.Side(
                Map.of("wire", "roce", "roce-address", "127.0.0.1", "roce-peer-port", "" + RoceEnds.freePort()))) {
            VerbsException late = assertThrows(
                    VerbsException.class,
                    () -> alone.device.resolveDatagrams(at("127.0.0.1", SERVICE), NO_DATA, 1_000_000));
            assertEquals(VerbsErrorCode.TIMED_OUT, late.code(), late.getMessage());
        }
    }

    @Test
    void shouldRefuseToOfferWhatCannotBeFound() {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of("roce-address", "127.0.0.1"))) {
            VerbsException elsewhere = assertThrows(
                    VerbsException.class,
                    () -> ends.passive.device.listenForDatagrams(at("127.0.0.2", SERVICE), OFFERED));
            assertEquals(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, elsewhere.code(), elsewhere.getMessage());
            assertTrue(String.valueOf(elsewhere.getMessage()).contains("roce-address"), elsewhere::getMessage);
            DatagramService tooLong = new DatagramService(at("127.0.0.1", 0), 0x123, 5, new byte[57]);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> ends.passive.device.listenForDatagrams(at("127.0.0.1", SERVICE), tooLong));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> ends.active.device.resolveDatagrams(at("127.0.0.1", SERVICE), new byte[57], 1));
            // Of two devices on one address only one can be found there.
            VerbsException taken = assertThrows(
                    VerbsException.class, () -> ends.active.device.listenForDatagrams(at("0.0.0.0", SERVICE), OFFERED));
            assertEquals(VerbsErrorCode.ADDRESS_IN_USE, taken.code(), taken.getMessage());
        }
    }

    @Test
    void shouldCountAListenerAsAnObjectOfItsDevice() {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of("roce-address", "127.0.0.1"));
                DatagramListener listener = ends.passive.device.listenForDatagrams(at("0.0.0.0", 0), OFFERED)) {
            VerbsException busy = assertThrows(VerbsException.class, ends.passive.device::close);
            assertEquals(VerbsErrorCode.BUSY, busy.code(), busy.getMessage());
            assertTrue(listener.localAddress().getPort() > 0);
        }
    }
}
