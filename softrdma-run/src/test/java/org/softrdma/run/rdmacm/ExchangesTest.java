package org.softrdma.run.rdmacm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.run.rdmacm.ScriptedManager.DONE;
import static org.softrdma.run.rdmacm.ScriptedManager.TCP;
import static org.softrdma.run.rdmacm.ScriptedManager.UDP;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.sim.roce.wire.RocePacket;

/** Programs of one run, or of two on one address, whose ids find each other. */
class ExchangesTest {
    private static final int REJECTED = 8;
    private static final int BY_CONSUMER = 28;
    private static final int ESTABLISHED = 9;
    private static final int DISCONNECTED = 10;
    private static final int UNREACHABLE = 7;
    private static final int RESPONSE = 5;
    private static final int REQUEST = 4;
    private static final int INIT = 1;
    private static final int RTR = 2;
    private static final int RTS = 3;

    private final ScriptedManager run = new ScriptedManager();
    private int server;
    private int client;

    @BeforeEach
    void open() throws CallRefusedException {
        server = run.channel();
        client = run.channel();
    }

    @AfterEach
    void close() {
        run.close();
    }

    private ScriptedManager.Event requested(ScriptedManager.Listening listening, int id, String data) {
        assertEquals(DONE, run.connect(client, id, 17, data));
        ScriptedManager.Event request = run.next(server, REQUEST, 0);
        assertEquals(5, request.name());
        assertNotEquals(listening.id(), request.id());
        return request;
    }

    @Test
    void shouldAgreeOnWhatBothQueuePairsNeed() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        var request = requested(listening, id, "hello");
        assertEquals(17, request.parameter(0));
        assertEquals("hello", request.text(8));
        assertEquals(56, request.parameterByte(264)); // all that a REQ has room for
        assertEquals(5, request.parameterByte(266)); // the peer's READs
        assertEquals(3, request.parameterByte(267));
        assertEquals(6, request.parameterByte(269));

        assertEquals(DONE, run.withId(server, 5, request.id(), 0, 208));
        assertEquals(listening.port(), run.answerByte(138) << 8 | run.answerByte(139));
        assertEquals(1, run.answer(192));

        assertEquals(DONE, run.attributes(server, request.id(), INIT));
        assertEquals(14, run.answer(36)); // the peer may WRITE, READ and more
        assertEquals(DONE, run.attributes(server, request.id(), RTR));
        int serverPsn = run.answer(24);
        assertEquals(17, run.answer(32));
        assertEquals(5, run.answerByte(131));
        assertEquals("00000000000000000000ffff7f000001", run.kernel.hex(ScriptedManager.ANSWER + 40, 16));
        assertEquals(DONE, run.attributes(server, request.id(), RTS));
        int clientPsn = run.answer(28);
        assertEquals(3, run.answerByte(130));
        assertEquals("120607", run.kernel.hex(ScriptedManager.ANSWER + 134, 3)); // 4.096 us x 2^18, 6, for ever

        assertEquals(ErrorNumber.EINVAL, run.attributes(client, id, RTR)); // nothing is agreed on
        assertEquals(DONE, run.accept(server, request.id(), 9, 18, "welcome"));
        var response = run.next(client, RESPONSE, 0);
        assertEquals(6, response.name());
        assertEquals(18, response.parameter(0));
        assertEquals("welcome", response.text(8));
        assertEquals(196, response.parameterByte(264));
        assertEquals(DONE, run.attributes(client, id, RTR));
        assertEquals(clientPsn, run.answer(24));
        assertEquals(18, run.answer(32));
        assertEquals(5, run.answer(12)); // 4096 bytes on loopback
        assertEquals(DONE, run.attributes(client, id, RTS));
        assertEquals(serverPsn, run.answer(28));
        assertEquals(DONE, run.isReady(client, id));
        assertEquals(9, run.next(server, ESTABLISHED, 0).name());

        assertEquals(DONE, run.disconnect(client, id));
        assertEquals(9, run.next(server, DISCONNECTED, 0).name());
        assertEquals(6, run.next(client, DISCONNECTED, 0).name());
        assertEquals(DONE, run.disconnect(server, request.id()));
        assertEquals(2, run.destroy(server, request.id()));
        assertEquals(4, run.destroy(client, id));
        assertEquals(1, run.destroy(server, listening.id()));
    }

    private int connected(ScriptedManager.Listening listening, int id) {
        var request = requested(listening, id, "");
        assertEquals(DONE, run.accept(server, request.id(), 9, 18, ""));
        run.next(client, RESPONSE, 0);
        assertEquals(DONE, run.isReady(client, id));
        run.next(server, ESTABLISHED, 0);
        return request.id();
    }

    @Test
    void shouldTellThePeerOfAnIdThatIsDestroyed() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        int accepted = connected(listening, id);
        assertEquals(3, run.destroy(client, id));
        assertEquals(9, run.next(server, DISCONNECTED, 0).name());
        assertEquals(2, run.destroy(server, accepted));
    }

    /** As the kernel closes it when its process is killed. */
    @Test
    void shouldTellThePeerOfAChannelThatNobodyHas() {
        Set<Integer> others = new HashSet<>(run.kernel.open);
        int killed = channel();
        Set<Integer> ends = new HashSet<>(run.kernel.open);
        ends.removeAll(others);
        var listening = run.listening(server, 5, TCP, 10);
        client = killed;
        connected(listening, run.resolved(killed, 6, TCP, listening.port()));
        run.kernel.abandoned.addAll(ends);
        assertEquals(2, run.device.channels());
        assertEquals(9, run.next(server, DISCONNECTED, 0).name());
    }

    private int channel() {
        try {
            return run.channel();
        } catch (CallRefusedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldTellOfARefusalWithItsReasons() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        var request = requested(listening, id, "");
        assertEquals(DONE, run.reject(server, request.id(), "busy"));
        assertEquals(ErrorNumber.EINVAL, run.reject(server, request.id(), "busy"));
        assertEquals(ErrorNumber.EINVAL, run.accept(server, request.id(), 9, 18, ""));
        var rejected = run.next(client, REJECTED, BY_CONSUMER);
        assertEquals("busy", rejected.text(8));
        assertEquals(148, rejected.parameterByte(264));
    }

    @Test
    void shouldRefuseWhatTheBacklogHasNoRoomFor() {
        var listening = run.listening(server, 5, TCP, 1);
        int first = run.resolved(client, 6, TCP, listening.port());
        int second = run.resolved(client, 7, TCP, listening.port());
        assertEquals(DONE, run.connect(client, first, 17, ""));
        run.until(() -> run.kernel.event(server) == 1, "the first request");
        assertEquals(DONE, run.connect(client, second, 19, ""));
        assertEquals(7, run.next(client, REJECTED, BY_CONSUMER).name());
        assertEquals(17, run.next(server, REQUEST, 0).parameter(0));
        int third = run.resolved(client, 8, TCP, listening.port());
        assertEquals(20, connectAnd(third, 20).parameter(0)); // there is room again
    }

    private ScriptedManager.Event connectAnd(int id, int queuePair) {
        assertEquals(DONE, run.connect(client, id, queuePair, ""));
        return run.next(server, REQUEST, 0);
    }

    @Test
    void shouldRefuseRequestsThatNobodyHasReadWhenTheListenerGoes() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        assertEquals(DONE, run.connect(client, id, 17, ""));
        run.until(() -> run.kernel.event(server) == 1, "the request");
        assertEquals(0, run.destroy(server, listening.id()));
        assertEquals(6, run.next(client, REJECTED, BY_CONSUMER).name());
    }

    /** It asks again for half a second first. */
    @Test
    void shouldSayThatNobodyListens() {
        var listening = run.listening(server, 5, TCP, 10);
        assertEquals(0, run.destroy(server, listening.id()));
        int id = run.resolved(client, 6, TCP, listening.port());
        assertEquals(DONE, run.connect(client, id, 17, ""));
        assertEquals(6, run.next(client, REJECTED, /* no such service */ 8).name());
    }

    @Test
    void shouldFindAListenerThatComesSoon() {
        var first = run.listening(server, 5, TCP, 10);
        assertEquals(0, run.destroy(server, first.id()));
        int id = run.resolved(client, 6, TCP, first.port());
        assertEquals(DONE, run.connect(client, id, 17, ""));
        run.turn();
        int again = run.create(server, 5, TCP);
        assertEquals(DONE, run.bind(server, again, ScriptedManager.at("127.0.0.1", first.port())));
        assertEquals(DONE, run.listen(server, again, 1));
        assertEquals(17, run.next(server, REQUEST, 0).parameter(0));
    }

    /** The program hears nothing of an id that it has not accepted, but accepting fails. */
    @Test
    void shouldNotAcceptAPeerThatHasGone() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        var request = requested(listening, id, "");
        assertEquals(2, run.destroy(client, id));
        int next = run.resolved(client, 7, TCP, listening.port());
        assertEquals(19, connectAnd(next, 19).parameter(0)); // what was sent before has arrived by then
        assertEquals(ErrorNumber.EINVAL, run.accept(server, request.id(), 9, 18, ""));
        assertEquals(ErrorNumber.EAGAIN, run.getEvent(server));
        assertEquals(0, run.destroy(server, request.id()));
    }

    @Test
    void shouldRefuseDataThatAMessageHasNoRoomFor() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        assertEquals(ErrorNumber.EINVAL, run.connect(client, id, 17, "x".repeat(57)));
        var request = requested(listening, id, "x".repeat(56));
        assertEquals(ErrorNumber.EINVAL, run.reject(server, request.id(), "x".repeat(149)));
        assertEquals(ErrorNumber.EINVAL, run.accept(server, request.id(), 9, 18, "x".repeat(197)));
        assertEquals(6, run.next(client, REJECTED, BY_CONSUMER).name()); // as Linux does
    }

    @Test
    void shouldBelieveAProgramThatItsPeerIsReady() {
        var listening = run.listening(server, 5, TCP, 10);
        int id = run.resolved(client, 6, TCP, listening.port());
        var request = requested(listening, id, "");
        assertEquals(DONE, run.accept(server, request.id(), 9, 18, ""));
        assertEquals(ErrorNumber.EINVAL, run.simple(server, 15, request.id(), 5));
        assertEquals(DONE, run.simple(server, 15, request.id(), 4));
        assertEquals(9, run.next(server, ESTABLISHED, 0).name());
        assertEquals(ErrorNumber.EISCONN, run.simple(server, 15, request.id(), 4));
    }

    @Test
    void shouldTellWhereDatagramsGo() {
        var listening = run.listening(server, 5, UDP, 10);
        int id = run.resolved(client, 6, UDP, listening.port());
        assertEquals(DONE, run.attributes(client, id, INIT));
        assertEquals(0x0123_4567, run.answer(20));
        assertEquals(DONE, run.connect(client, id, 17, "hello"));
        var request = run.next(server, REQUEST, 0);
        assertEquals("hello", request.text(40));
        assertEquals(180, request.parameterByte(296));
        assertEquals(DONE, run.accept(server, request.id(), 9, 18, "welcome"));
        assertEquals(ErrorNumber.EINVAL, run.accept(server, request.id(), 9, 18, ""));
        var established = run.next(client, ESTABLISHED, 0);
        assertEquals(18, established.parameter(0));
        assertEquals(0x0123_4567, established.parameter(4));
        assertEquals(1, established.parameterByte(8 + 29)); // its path has GIDs
        assertEquals("welcome", established.text(40));
        assertEquals(136, established.parameterByte(296));
        assertEquals(DONE, run.disconnect(client, id));
    }

    @Test
    void shouldTellThatDatagramsAreRefused() {
        var listening = run.listening(server, 5, UDP, 10);
        int id = run.resolved(client, 6, UDP, listening.port());
        assertEquals(DONE, run.connect(client, id, 17, ""));
        var request = run.next(server, REQUEST, 0);
        assertEquals(DONE, run.reject(server, request.id(), "no"));
        assertEquals("no", run.next(client, UNREACHABLE, 2).text(40));
        assertEquals(0, run.destroy(server, request.id()));
        assertEquals(1, run.destroy(server, listening.id()));
        int late = run.resolved(client, 7, UDP, listening.port());
        assertEquals(DONE, run.connect(client, late, 17, ""));
        assertEquals(7, run.next(client, UNREACHABLE, 1).name());
    }

    /** Else it could not be found at the other one. */
    @Test
    void shouldHaveAPortThatIsFreeAtEachAddress() throws Exception {
        InetAddress other = InetAddress.ofLiteral("127.0.0.17");
        try (DatagramChannel taken = DatagramChannel.open();
                ScriptedManager beside = new ScriptedManager(List.of(ScriptedManager.HERE, other))) {
            assertTrue(taken.bind(new InetSocketAddress(other, RocePacket.UDP_PORT))
                    .isOpen());
            int channel = beside.channel();
            int id = beside.create(channel, 3, TCP);
            assertEquals(DONE, beside.bind(channel, id, new InetSocketAddress(other, 0)));
            assertEquals(DONE, beside.listen(channel, id, 1));
        }
    }

    /** The second run has another UDP port at the same address. */
    @Test
    void shouldFindTheListenerOfALaterRun() throws CallRefusedException {
        var own = run.listening(server, 5, TCP, 10);
        try (ScriptedManager later = new ScriptedManager()) {
            int channel = later.channel();
            var listening = later.listening(channel, 3, TCP, 10);
            assertNotEquals(own.port(), listening.port());
            int id = run.resolved(client, 6, TCP, listening.port());
            assertEquals(DONE, run.connect(client, id, 17, "over there"));
            ScriptedManager.Event[] request = new ScriptedManager.Event[1];
            later.until(
                    () -> {
                        run.turn();
                        if (later.getEvent(channel) == DONE) {
                            request[0] = later.new Event();
                        }
                        return request[0] != null;
                    },
                    "the request");
            assertEquals("over there", request[0].text(8));
            assertEquals(DONE, later.accept(channel, request[0].id(), 4, 18, ""));
            run.until(
                    () -> {
                        later.turn();
                        return run.kernel.event(client) == 1;
                    },
                    "the response");
            run.next(client, RESPONSE, 0);
            assertEquals(DONE, run.isReady(client, id));
            later.next(channel, ESTABLISHED, 0);
        }
        run.next(client, DISCONNECTED, 0); // the later run has ended
    }
}
