package org.softrdma.sim.roce.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.sim.roce.cm.CmHosts.CLIENT;
import static org.softrdma.sim.roce.cm.CmHosts.MS;
import static org.softrdma.sim.roce.cm.CmHosts.SERVER;
import static org.softrdma.sim.roce.cm.CmHosts.SERVICE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.roce.wire.CmIds;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.sim.roce.wire.ServiceRequest;

/** What the connection manager says and does, message by message. */
class CommunicationManagerTest {
    private static final int CLIENT_QUEUE_PAIR = 0x111;
    private static final int SERVER_QUEUE_PAIR = 0x222;
    private static final long TIMEWAIT = CmSettings.DEFAULT.timewaitNs();

    private final CmHosts hosts = new CmHosts();
    private final CmHosts.Told client = new CmHosts.Told();
    private final CmHosts.Told server = new CmHosts.Told();
    private final List<CmConnection> requests = new ArrayList<>();

    private void listen() {
        assertTrue(hosts.server.listen(SERVICE, ConnectRequest.RELIABLE, connection -> {
            requests.add(connection);
            return server;
        }));
    }

    private CmConnection connect() {
        CmConnection connection =
                hosts.client.connect(SERVER, CmHosts.request(CLIENT_QUEUE_PAIR, SERVICE, "hello"), client, hosts.now);
        client.onReply = connection::ready;
        return connection;
    }

    private CmConnection request() {
        assertEquals(1, requests.size(), "the application is asked once");
        return requests.getFirst();
    }

    private void accept() {
        request().accept(CmHosts.endpoint(SERVER_QUEUE_PAIR), 15, CmHosts.data("welcome"), hosts.now);
    }

    /** Both ends of a connection that stands. */
    private CmConnection established() {
        listen();
        CmConnection connection = connect();
        hosts.runFor(1);
        accept();
        hosts.runFor(1);
        assertEquals(CmState.ESTABLISHED, connection.state());
        assertEquals(CmState.ESTABLISHED, request().state());
        hosts.sent.clear();
        return connection;
    }

    private void lose(CmPeer from, int attribute, int first) {
        int[] seen = {0};
        hosts.lost = message -> message.from().equals(from) && message.attribute() == attribute && seen[0]++ < first;
    }

    private static byte[] mad(LongConsumer writer) {
        MemorySegment mad = Arena.ofAuto().allocate(Mad.LENGTH, Long.BYTES);
        writer.accept(mad.address());
        return NativeMemory.bytes(mad.address(), Mad.LENGTH);
    }

    // ---- connecting

    @Test
    void shouldConnectAndDisconnect() {
        CmConnection connection = established();
        assertEquals("hello", CmHosts.text(request().request().privateData()));
        assertEquals(CLIENT_QUEUE_PAIR, request().request().endpoint().queuePair());
        assertEquals("welcome", CmHosts.text(client.reply.orElseThrow().privateData()));
        assertEquals(0x2222, client.reply.orElseThrow().endpoint().guid());
        assertEquals(0x1111, request().request().endpoint().guid());
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(List.of("replied", "disconnected", "released"), client.events);
        assertEquals(List.of("established", "disconnected", "released"), server.events);
        assertEquals(0, hosts.client.size() + hosts.server.size());
        assertEquals(2, hosts.sent.size(), "DREQ and DREP");
    }

    /** Who knows the id of one connection knows none of its neighbours. */
    @Test
    void shouldGiveIdsThatDoNotFollowEachOther() {
        List<Integer> ids = IntStream.range(0, 4)
                .mapToObj(i -> hosts.client.connect(
                        SERVER, CmHosts.request(CLIENT_QUEUE_PAIR + i, SERVICE, ""), client, hosts.now))
                .map(connection -> connection.request().endpoint().communicationId())
                .sorted()
                .toList();
        for (int i = 1; i < ids.size(); i++) {
            assertTrue(ids.get(i) - (long) ids.get(i - 1) > 1000, ids::toString);
        }
        hosts.runOut();
    }

    @Test
    void shouldConnectWithinOneManager() {
        CmHosts.Told told = new CmHosts.Told();
        hosts.server.listen(SERVICE, ConnectRequest.RELIABLE, request -> {
            request.accept(CmHosts.endpoint(SERVER_QUEUE_PAIR), 15, PrivateData.NONE, hosts.now);
            return server;
        });
        CmConnection connection =
                hosts.server.connect(SERVER, CmHosts.request(CLIENT_QUEUE_PAIR, SERVICE, ""), told, hosts.now);
        told.onReply = connection::ready;
        hosts.runFor(1);
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(List.of("replied", "disconnected", "released"), told.events);
        assertEquals(List.of("established", "disconnected", "released"), server.events);
    }

    @Test
    void shouldRepeatARequestAfterLongerAndLongerTimesAndGiveItUp() {
        connect();
        hosts.lost = message -> true;
        hosts.runOut();
        List<Long> times = hosts.times(CLIENT, Mad.CONNECT_REQUEST);
        assertEquals(16, times.size());
        assertEquals(
                List.of(0L, 100 * MS, 300 * MS, 700 * MS, 1500 * MS, 3100 * MS, 5100 * MS, 7100 * MS),
                times.subList(0, 8));
        assertEquals(1, hosts.count(CLIENT, Mad.CONNECT_REJECT), "so that a server forgets it");
        assertEquals(List.of("failed 4 ", "released"), client.events);
        assertEquals(15, hosts.client.counters().repeated());
    }

    @Test
    void shouldAnswerARepeatedRequestWithTheSameReply() {
        listen();
        connect();
        lose(SERVER, Mad.CONNECT_REPLY, 1);
        hosts.runFor(1);
        accept();
        hosts.runFor(100 * MS - 2); // both repeat at 100 ms
        assertEquals(1, hosts.count(SERVER, Mad.CONNECT_REPLY));
        hosts.runFor(5);
        assertEquals(List.of("replied"), client.events);
        assertEquals(List.of("established"), server.events);
        request();
    }

    @Test
    void shouldSayAgainThatItIsReadyWhenTheReplyComesAgain() {
        listen();
        connect();
        lose(CLIENT, Mad.READY_TO_USE, 1);
        hosts.runFor(1);
        accept();
        hosts.runFor(99 * MS);
        assertEquals(CmState.REPLY_SENT, request().state());
        hosts.runFor(2 * MS);
        assertEquals(CmState.ESTABLISHED, request().state());
        assertEquals(2, hosts.count(CLIENT, Mad.READY_TO_USE));
        assertEquals(List.of("replied"), client.events, "told once");
    }

    @Test
    void shouldBeEstablishedByAPacketOfThePeerThoughItDidNotSayThatItIsReady() {
        listen();
        connect();
        lose(CLIENT, Mad.READY_TO_USE, 100);
        hosts.runFor(1);
        accept();
        hosts.runFor(1);
        request().used();
        request().used();
        hosts.runFor(10_000 * MS);
        assertEquals(List.of("established"), server.events);
        assertEquals(1, hosts.count(SERVER, Mad.CONNECT_REPLY), "not repeated");
    }

    @Test
    void shouldGiveUpAReplyThatNobodyAnswersAndTellThePeer() {
        listen();
        CmConnection connection = connect();
        lose(CLIENT, Mad.READY_TO_USE, 100);
        hosts.runFor(1);
        accept();
        hosts.runOut();
        assertEquals(16, hosts.count(SERVER, Mad.CONNECT_REPLY));
        assertEquals(List.of("failed 4 ", "released"), server.events);
        assertEquals(List.of("replied", "disconnected", "released"), client.events, "it stood for this side");
        assertEquals(CmState.CLOSED, connection.state());
    }

    // ---- without memory

    private static OutOfMemoryError fullHeap() {
        return new OutOfMemoryError("as on a full heap");
    }

    /** Else it would be asked to wait, and wait for ever. */
    @Test
    void shouldHearARequestThatComesAgainWhenThereWasNoMemoryForItAtFirst() {
        boolean[] full = {true};
        assertTrue(hosts.server.listen(SERVICE, ConnectRequest.RELIABLE, connection -> {
            if (full[0]) {
                full[0] = false;
                throw fullHeap();
            }
            requests.add(connection);
            return server;
        }));
        connect();
        assertThrows(OutOfMemoryError.class, () -> hosts.runFor(1));
        assertEquals(0, hosts.server.size());
        hosts.runFor(100 * MS);
        accept();
        hosts.runFor(1);
        assertEquals(List.of("replied"), client.events);
        request().disconnect(hosts.now);
        hosts.runOut();
        assertEquals(0, hosts.client.size() + hosts.server.size());
    }

    /** What sends a message may have no memory: the message is sent again soon. */
    @Test
    void shouldGoOnAskingWhenThereWasNoMemoryForARepetition() {
        int[] sent = {0};
        hosts.lost = message -> {
            sent[0]++;
            if (sent[0] == 2) {
                throw fullHeap();
            }
            return true;
        };
        connect();
        hosts.runOut();
        assertEquals(List.of("failed 4 ", "released"), client.events);
        assertEquals(0, hosts.client.size());
    }

    @Test
    void shouldForgetARequestThatCouldNotBeSent() {
        hosts.lost = message -> {
            throw fullHeap();
        };
        assertThrows(OutOfMemoryError.class, this::connect);
        assertEquals(0, hosts.client.size());
        assertEquals(Long.MAX_VALUE, hosts.client.nextNs());
    }

    /** The owner must be told, also if the peer cannot be. */
    @Test
    void shouldTellTheOwnerThatNobodyAnswersThoughThereIsNoMemoryToTellThePeer() {
        hosts.lost = message -> {
            if (message.attribute() == Mad.CONNECT_REJECT) {
                throw fullHeap();
            }
            return true;
        };
        connect();
        hosts.runOut();
        assertEquals(List.of("failed 4 ", "released"), client.events);
        assertEquals(1, hosts.client.counters().unsent());
    }

    @Test
    void shouldRefuseAgainWhatItHadNoMemoryToRefuse() {
        listen();
        connect();
        hosts.runFor(1);
        boolean[] full = {true};
        hosts.lost = message -> {
            if (full[0] && message.attribute() == Mad.CONNECT_REJECT) {
                full[0] = false;
                throw fullHeap();
            }
            return false;
        };
        request().reject(ConnectReject.BY_CONSUMER, CmHosts.data("no"), hosts.now);
        hosts.runFor(100 * MS);
        assertEquals(List.of("failed 28 no"), client.events);
    }

    // ---- time

    @Test
    void shouldWaitForAPeerThatAsksForTime() {
        CmConnection connection = connect();
        hosts.lost = message -> true;
        hosts.runFor(50 * MS);
        // t = 20: 4.3 s, and the longest wait between repetitions
        hosts.deliver(
                SERVER,
                CLIENT,
                mad(at -> new CmIds(9, connection.localId()).writeMessageReceipt(at, 0, ConnectReject.OF_REQUEST, 20)));
        hosts.runFor(6_000 * MS);
        assertEquals(1, hosts.count(CLIENT, Mad.CONNECT_REQUEST));
        hosts.runFor(400 * MS);
        assertEquals(2, hosts.count(CLIENT, Mad.CONNECT_REQUEST));
        // t = 31: two and a half hours
        hosts.deliver(
                SERVER,
                CLIENT,
                mad(at -> new CmIds(9, connection.localId()).writeMessageReceipt(at, 0, ConnectReject.OF_REQUEST, 31)));
        assertEquals(
                hosts.now + CmSettings.DEFAULT.mostServiceTimeNs() + CmSettings.DEFAULT.mostRepeatNs(),
                hosts.client.nextNs());
    }

    @Test
    void shouldAskForTimeWhenARequestComesAgainWhileTheApplicationThinks() {
        listen();
        CmConnection connection = connect();
        hosts.runFor(101 * MS);
        assertEquals(1, hosts.count(SERVER, Mad.MESSAGE_RECEIPT));
        hosts.runFor(60_000 * MS);
        assertEquals(2, hosts.count(CLIENT, Mad.CONNECT_REQUEST), "that was enough");
        accept();
        hosts.runFor(1);
        assertEquals(CmState.ESTABLISHED, connection.state());
        request();
    }

    @Test
    void shouldAskForTimeWhenAReplyComesAgainBeforeTheQueuePairIsReady() {
        listen();
        CmConnection connection = connect();
        client.onReply = () -> {};
        hosts.runFor(1);
        accept();
        hosts.runFor(60_000 * MS);
        assertEquals(2, hosts.count(SERVER, Mad.CONNECT_REPLY));
        assertEquals(1, hosts.count(CLIENT, Mad.MESSAGE_RECEIPT));
        connection.ready();
        hosts.runFor(1);
        assertEquals(List.of("established"), server.events);
    }

    // ---- refusing

    @Test
    void shouldRefuseWhatNobodyListensForAndTheWrongTransport() {
        connect();
        hosts.runFor(1);
        assertEquals(List.of("failed " + ConnectReject.INVALID_SERVICE + " "), client.events);
        hosts.server.listen(SERVICE, ConnectRequest.UNRELIABLE, connection -> server);
        connect();
        hosts.runFor(1);
        assertEquals("failed " + ConnectReject.INVALID_TRANSPORT + " ", client.events.getLast());
        hosts.server.stopListening(SERVICE);
        connect();
        hosts.runFor(1);
        assertEquals("failed " + ConnectReject.INVALID_SERVICE + " ", client.events.getLast());
        assertEquals(List.of(), server.events);
        assertEquals(0, hosts.server.size(), "nothing is remembered");
    }

    @Test
    void shouldTellTheApplicationsRefusalAsOftenAsTheRequestComes() {
        listen();
        connect();
        lose(SERVER, Mad.CONNECT_REJECT, 2);
        hosts.runFor(1);
        request().reject(ConnectReject.BY_CONSUMER, CmHosts.data("no"), hosts.now);
        hosts.runOut();
        assertEquals(List.of("failed 28 no", "released"), client.events);
        assertEquals(List.of("released"), server.events);
        assertEquals(3, hosts.count(SERVER, Mad.CONNECT_REJECT));
        request();
    }

    @Test
    void shouldTellARefusalSomeTimesToAPeerThatItHasAskedToWait() {
        listen();
        connect();
        lose(SERVER, Mad.CONNECT_REJECT, 3);
        hosts.runFor(101 * MS);
        assertEquals(1, hosts.count(SERVER, Mad.MESSAGE_RECEIPT));
        request().reject(ConnectReject.BY_CONSUMER, CmHosts.data("no"), hosts.now);
        hosts.runFor(701 * MS);
        assertEquals(List.of("failed 28 no"), client.events);
        hosts.runOut();
        assertEquals(4, hosts.count(SERVER, Mad.CONNECT_REJECT));
        assertEquals(List.of("released"), server.events);
    }

    @Test
    void shouldRefuseAReply() {
        listen();
        CmConnection connection = connect();
        client.onReply = () -> connection.reject(ConnectReject.NO_RESOURCES, CmHosts.data("sorry"), hosts.now);
        lose(CLIENT, Mad.CONNECT_REJECT, 1);
        hosts.runFor(1);
        accept();
        hosts.runOut();
        assertEquals(List.of("failed 3 sorry", "released"), server.events);
        assertEquals(List.of("replied", "released"), client.events);
    }

    @Test
    void shouldRefuseAReplyToNobody() {
        listen();
        CmConnection connection = connect();
        hosts.runFor(1);
        connection.disconnect(hosts.now);
        hosts.lost = message -> true;
        hosts.runFor(2 * TIMEWAIT);
        assertEquals(0, hosts.client.size());
        hosts.lost = message -> false;
        assertEquals(List.of("failed 28 ", "released"), server.events, "it has heard that it was given up");
        assertThrows(IllegalStateException.class, this::accept);
        byte[] late = mad(at -> new org.softrdma.sim.roce.wire.ConnectReply(
                        CmHosts.endpoint(5).identifiedBy(8, 9), connection.localId(), 15, 0, PrivateData.NONE)
                .write(at, 1));
        hosts.sent.clear();
        hosts.deliver(SERVER, CLIENT, late);
        assertEquals(1, hosts.count(CLIENT, Mad.CONNECT_REJECT));
        assertEquals(1, hosts.client.counters().unexpected());
    }

    @Test
    void shouldHearNoMoreRequestsThanMayWait() {
        CmHosts few = new CmHosts(1, CmHosts.Weather.CALM, CmSettings.DEFAULT.withBacklog(2));
        List<CmConnection> waiting = new ArrayList<>();
        few.server.listen(SERVICE, ConnectRequest.RELIABLE, connection -> {
            waiting.add(connection);
            return new CmHosts.Told();
        });
        for (int i = 0; i < 3; i++) {
            few.client.connect(SERVER, CmHosts.request(i, SERVICE, ""), new CmHosts.Told(), few.now);
        }
        few.runFor(1);
        assertEquals(2, waiting.size());
        assertEquals(1, few.server.counters().backlogFull());
        waiting.getFirst().accept(CmHosts.endpoint(100), 15, PrivateData.NONE, few.now);
        few.runFor(101 * MS);
        assertEquals(3, waiting.size(), "it has asked again, and there is room");
    }

    @Test
    void shouldHearThatAPeerHasGivenUpBeforeItWasAnswered() {
        listen();
        CmConnection connection = connect();
        hosts.runFor(1);
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(List.of("failed 28 ", "released"), server.events);
        assertEquals(List.of("released"), client.events);
    }

    // ---- ending

    @Test
    void shouldEndOnceWhenBothSidesDisconnect() {
        CmConnection connection = established();
        connection.disconnect(hosts.now);
        request().disconnect(hosts.now);
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(List.of("replied", "disconnected", "released"), client.events);
        assertEquals(List.of("established", "disconnected", "released"), server.events);
    }

    @Test
    void shouldRepeatADisconnectAndGiveItUp() {
        CmConnection connection = established();
        hosts.lost = message -> true;
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(4, hosts.count(CLIENT, Mad.DISCONNECT_REQUEST));
        assertEquals(List.of("replied", "disconnected", "released"), client.events);
    }

    @Test
    void shouldAnswerADisconnectThatComesAgainAlsoWhenNobodyKnowsOfIt() {
        CmConnection connection = established();
        lose(SERVER, Mad.DISCONNECT_REPLY, 2);
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(3, hosts.count(SERVER, Mad.DISCONNECT_REPLY));
        assertEquals(1, server.events.stream().filter("disconnected"::equals).count());
        hosts.sent.clear();
        hosts.deliver(CLIENT, SERVER, mad(at -> new CmIds(5, 6).writeDisconnectRequest(at, 7, 8)));
        assertEquals(List.of(new CmHosts.Sent(SERVER, hosts.now, Mad.DISCONNECT_REPLY, 7)), hosts.sent);
    }

    @Test
    void shouldEndWhatWasEstablishedWithoutItsKnowledge() {
        listen();
        CmConnection connection = connect();
        lose(CLIENT, Mad.READY_TO_USE, 100);
        hosts.runFor(1);
        accept();
        hosts.runFor(1);
        connection.disconnect(hosts.now);
        hosts.runOut();
        assertEquals(List.of("established", "disconnected", "released"), server.events);
    }

    @Test
    void shouldKeepItsNumbersForTheTimewait() {
        CmConnection connection = established();
        connection.disconnect(hosts.now);
        hosts.runFor(TIMEWAIT - 1);
        assertEquals(CmState.TIME_WAIT, connection.state());
        assertEquals(1, hosts.client.size());
        hosts.runFor(2);
        assertEquals(CmState.CLOSED, connection.state());
        assertEquals("released", client.events.getLast());
    }

    // ---- restarts

    @Test
    void shouldRefuseAPeerThatWasRestartedAsStaleOnceAndThenHearIt() {
        CmConnection old = established();
        CmHosts.Told again = new CmHosts.Told();
        // The same device and queue pair, by a manager that knows nothing: another id.
        hosts.lost = message -> message.from().equals(CLIENT) && message.attribute() == Mad.DISCONNECT_REPLY;
        CmConnection second =
                hosts.client.connect(SERVER, CmHosts.request(CLIENT_QUEUE_PAIR, SERVICE, "again"), again, hosts.now);
        hosts.runFor(1);
        assertEquals(List.of("failed " + ConnectReject.STALE_CONNECTION + " "), again.events);
        assertEquals(1, hosts.server.counters().stale());
        assertEquals(CmState.TIME_WAIT, second.state());
        hosts.runFor(20_000 * MS);
        assertTrue(server.events.contains("disconnected"), "the old one has ended: " + server.events);
        assertEquals(CmState.CLOSED, old.state());
        CmHosts.Told third = new CmHosts.Told();
        hosts.client.connect(SERVER, CmHosts.request(CLIENT_QUEUE_PAIR, SERVICE, "third"), third, hosts.now);
        hosts.runFor(1);
        assertEquals(2, requests.size());
    }

    @Test
    void shouldTellTheApplicationThatARequestOnWhichItThinksIsStale() {
        listen();
        connect();
        hosts.runFor(1);
        hosts.client.connect(SERVER, CmHosts.request(CLIENT_QUEUE_PAIR, SERVICE, ""), new CmHosts.Told(), hosts.now);
        hosts.runFor(1);
        assertEquals(List.of("failed " + ConnectReject.STALE_CONNECTION + " "), server.events);
        request();
    }

    @Test
    void shouldConnectToAServerThatWasRestartedWithinTheTimewait() {
        established();
        hosts.restartServer(0x3333);
        listen();
        CmHosts.Told again = new CmHosts.Told();
        CmConnection second = hosts.client.connect(SERVER, CmHosts.request(0x112, SERVICE, ""), again, hosts.now);
        again.onReply = second::ready;
        hosts.runFor(1);
        requests.getLast().accept(CmHosts.endpoint(SERVER_QUEUE_PAIR), 15, PrivateData.NONE, hosts.now);
        hosts.runFor(1);
        assertEquals(List.of("replied"), again.events);
    }

    // ---- strangers

    @Test
    void shouldNotHeedMessagesOfOthersOrOfOtherNumbers() {
        CmConnection connection = established();
        CmPeer stranger = new CmPeer(new org.softrdma.sim.roce.wire.Gid(0, 0xFFFF_0A00_0003L), 4791);
        int id = connection.localId();
        int itsId = request().localId();
        hosts.deliver(
                stranger, CLIENT, mad(at -> new CmIds(itsId, id).writeDisconnectRequest(at, 1, CLIENT_QUEUE_PAIR)));
        hosts.deliver(
                SERVER, CLIENT, mad(at -> new CmIds(itsId + 1, id).writeDisconnectRequest(at, 1, CLIENT_QUEUE_PAIR)));
        hosts.deliver(
                SERVER, CLIENT, mad(at -> new CmIds(itsId, id).writeDisconnectRequest(at, 1, CLIENT_QUEUE_PAIR + 1)));
        hosts.deliver(
                stranger,
                CLIENT,
                mad(at -> CmContext.rejection(new CmIds(itsId, id), 2, 4, PrivateData.NONE)
                        .write(at, 1)));
        hosts.deliver(
                SERVER,
                CLIENT,
                mad(at -> CmContext.rejection(new CmIds(itsId + 1, id), 2, 4, PrivateData.NONE)
                        .write(at, 1)));
        hosts.deliver(SERVER, CLIENT, mad(at -> new CmIds(itsId, id).writeDisconnectReply(at, 1)));
        assertEquals(CmState.ESTABLISHED, connection.state());
        assertEquals(6, hosts.client.counters().unexpected());
        hosts.deliver(SERVER, CLIENT, mad(at -> Mad.put(at, 0x19, 1)));
        hosts.deliver(SERVER, CLIENT, new byte[Mad.LENGTH]);
        hosts.deliver(SERVER, CLIENT, new byte[10]);
        assertEquals(3, hosts.client.counters().invalid());
        hosts.deliver(SERVER, CLIENT, mad(at -> new CmIds(itsId, id).writeDisconnectRequest(at, 1, CLIENT_QUEUE_PAIR)));
        assertEquals(CmState.TIME_WAIT, connection.state());
    }

    // ---- datagram services

    @Test
    void shouldAnswerAQuestionForADatagramServiceTheSameEachTimeAndAskTheApplicationOnce() {
        int[] asked = {0};
        assertTrue(hosts.server.listen(SERVICE, (peer, request, question) -> {
            asked[0]++;
            assertEquals(CLIENT, peer);
            assertEquals("who", CmHosts.text(request.privateData()));
            question.answer(
                    new ServiceReply(request.requestId(), ServiceReply.VALID, 5, SERVICE, asked[0], CmHosts.data("me")),
                    hosts.now);
            return true;
        }));
        lose(SERVER, Mad.SERVICE_REPLY, 2);
        List<Optional<ServiceReply>> answers = new ArrayList<>();
        hosts.client.resolve(SERVER, SERVICE, CmHosts.data("who"), answers::add, hosts.now);
        hosts.runOut();
        assertEquals(1, asked[0]);
        assertEquals(1, answers.size());
        ServiceReply reply = answers.getFirst().orElseThrow();
        assertEquals(5, reply.queuePair());
        assertEquals(1, reply.queueKey());
        assertEquals("me", CmHosts.text(reply.privateData()));
        assertEquals(3, hosts.count(CLIENT, Mad.SERVICE_REQUEST));
        assertEquals(2, hosts.server.counters().duplicates());
    }

    @Test
    void shouldSayThatThereIsNoDatagramServiceAndGiveUpWithoutAnAnswer() {
        List<Optional<ServiceReply>> answers = new ArrayList<>();
        hosts.client.resolve(SERVER, SERVICE, PrivateData.NONE, answers::add, hosts.now);
        hosts.runOut();
        assertEquals(ServiceReply.NO_SERVICE, answers.getFirst().orElseThrow().status());
        hosts.lost = message -> true;
        hosts.client.resolve(SERVER, SERVICE, PrivateData.NONE, answers::add, hosts.now);
        hosts.runOut();
        assertEquals(Optional.empty(), answers.getLast());
        assertEquals(2, answers.size());
    }

    /** A kernel forgets a question that it has answered, so a repetition that meets the answer would be another one. */
    @Test
    void shouldNotAskForADatagramServiceAgainSoon() {
        hosts.client.resolve(SERVER, SERVICE, PrivateData.NONE, answer -> {}, hosts.now);
        assertEquals(hosts.now + CmSettings.DEFAULT.mostRepeatNs(), hosts.client.nextNs());
    }

    private static ServiceReply valid(ServiceRequest request) {
        return new ServiceReply(request.requestId(), ServiceReply.VALID, 5, SERVICE, 0, PrivateData.NONE);
    }

    /** It asks again meanwhile, of which the application does not hear. */
    @Test
    void shouldAnswerAQuestionForADatagramServiceOnceTheApplicationHasDecided() {
        int[] asked = {0};
        hosts.server.listen(SERVICE, (peer, request, question) -> {
            asked[0]++;
            hosts.plan(2 * CmSettings.DEFAULT.mostRepeatNs() + 1, () -> question.answer(valid(request), hosts.now));
            return true;
        });
        lose(SERVER, Mad.SERVICE_REPLY, 1);
        List<Optional<ServiceReply>> answers = new ArrayList<>();
        hosts.client.resolve(SERVER, SERVICE, PrivateData.NONE, answers::add, hosts.now);
        hosts.runOut();
        assertEquals(1, asked[0]);
        assertEquals(5, answers.getFirst().orElseThrow().queuePair());
        assertEquals(1, answers.size());
        assertEquals(2, hosts.count(SERVER, Mad.SERVICE_REPLY));
        assertEquals(4, hosts.count(CLIENT, Mad.SERVICE_REQUEST));
    }

    /** As without memory for what the application would get. */
    @Test
    void shouldHearAQuestionAgainForWhichThereWasNoMemory() {
        int[] asked = {0};
        hosts.server.listen(SERVICE, (peer, request, question) -> {
            asked[0]++;
            if (asked[0] == 1) {
                throw new OutOfMemoryError("as if");
            }
            question.answer(valid(request), hosts.now);
            return asked[0] == 3; // the second one is not heard
        });
        byte[] question = mad(at -> new ServiceRequest(1, 0xFFFF, SERVICE, PrivateData.NONE).write(at, 1));
        assertThrows(OutOfMemoryError.class, () -> hosts.deliver(CLIENT, SERVER, question));
        for (int i = 0; i < 3; i++) {
            hosts.deliver(CLIENT, SERVER, question);
        }
        assertEquals(3, asked[0]);
        assertEquals(1, hosts.server.counters().backlogFull());
        assertEquals(3, hosts.count(SERVER, Mad.SERVICE_REPLY));
    }

    @Test
    void shouldForgetAQuestionThatCouldNotBeAsked() {
        hosts.lost = message -> {
            throw new OutOfMemoryError("as if");
        };
        assertThrows(
                OutOfMemoryError.class,
                () -> hosts.client.resolve(SERVER, SERVICE, PrivateData.NONE, answer -> {}, hosts.now));
        hosts.lost = message -> false;
        int id = (int) hosts.sent.getFirst().transaction();
        byte[] answer =
                mad(at -> new ServiceReply(id, ServiceReply.VALID, 5, SERVICE, 0, PrivateData.NONE).write(at, 1));
        hosts.deliver(SERVER, CLIENT, answer);
        assertEquals(1, hosts.client.counters().unexpected());
        assertEquals(Long.MAX_VALUE, hosts.client.nextNs());
    }

    @Test
    void shouldTellOfAnAnswerAgainForWhichThereWasNoMemory() {
        hosts.server.listen(SERVICE, (peer, request, question) -> {
            question.answer(valid(request), hosts.now);
            return true;
        });
        List<Optional<ServiceReply>> told = new ArrayList<>();
        hosts.client.resolve(
                SERVER,
                SERVICE,
                PrivateData.NONE,
                answer -> {
                    told.add(answer);
                    if (told.size() == 1) {
                        throw new OutOfMemoryError("as if");
                    }
                },
                hosts.now);
        assertThrows(OutOfMemoryError.class, hosts::runOut);
        hosts.runOut();
        assertEquals(2, told.size());
        assertEquals(told.getFirst(), told.getLast());
    }

    @Test
    void shouldRememberNoMoreAnswersThanTheBacklog() {
        CmHosts few = new CmHosts(1, CmHosts.Weather.CALM, CmSettings.DEFAULT.withBacklog(2));
        int[] asked = {0};
        few.server.listen(SERVICE, (peer, request, question) -> {
            asked[0]++;
            question.answer(valid(request), few.now);
            return true;
        });
        for (int round = 0; round < 2; round++) {
            for (int id = 0; id < 3; id++) {
                int number = id;
                few.deliver(
                        CLIENT,
                        SERVER,
                        mad(at -> new ServiceRequest(number, 0xFFFF, SERVICE, PrivateData.NONE).write(at, 1)));
            }
        }
        assertEquals(6, asked[0], "the oldest is forgotten first");
        assertEquals(6, few.count(SERVER, Mad.SERVICE_REPLY));
    }
}
