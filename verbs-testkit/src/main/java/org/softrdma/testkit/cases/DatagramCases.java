package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Datagrams: whole, with their source, to whom they are addressed; what nobody can take is lost, and that is no error. */
@ExtendWith(TwoNodesExtension.class)
public final class DatagramCases {
    private static final int HEADER = RoutingHeader.LENGTH;
    private static final int KEY = 0x1234567;
    private static final int SMALL = 64;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final long WAIT_NS = 20_000_000;
    private static final int ATTEMPTS = 10;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(64, 64, 2, 2, 16);

    /** Made by JUnit. */
    public DatagramCases() {}

    /** An end, and what it needs to reach another: a handle of its host, and a region to send from and to receive in. */
    private record End(Endpoint endpoint, MemoryRegion source, MemoryRegion inbox) {
        static End of(TwoNodes nodes, Node node, int longest) {
            FeatureGate.require(nodes, Feature.UNRELIABLE_DATAGRAM);
            return new End(
                    nodes.unconnected(node, LIMITS, QueuePairType.UNRELIABLE_DATAGRAM, KEY),
                    node.region(longest),
                    node.region(HEADER + longest, AccessFlag.RECEIVE_SINK));
        }

        AddressHandle way(TwoNodes nodes, End to) {
            return nodes.own(endpoint.node()
                    .domain()
                    .createAddressHandle(to.endpoint.unconnected().address().host()));
        }

        int number() {
            return endpoint.queuePair().number();
        }

        void receive(long wrId, long length) {
            inbox.memory().fill(BytePattern.POISON);
            endpoint.receive(wrId, inbox, 0, HEADER + length);
        }

        void sent(long wrId) {
            endpoint.sends().expect(wrId, CompletionOpcode.SEND, 0);
        }

        Completion received(long wrId, long length) {
            return endpoint.receives().expect(wrId, CompletionOpcode.RECEIVE, HEADER + length);
        }

        MemorySegment payload() {
            return inbox.memory().asSlice(HEADER);
        }
    }

    private static int longest(TwoNodes nodes) {
        return nodes.requester().device().capabilities().maxTransferUnit();
    }

    @Test
    @ConformanceCase(
            number = 140,
            title = "a datagram arrives whole behind 40 bytes that say where it comes from, in either direction",
            source = "rdma-unit-test UdQpTest.Send; ibv_poll_cq(3) byte_len, src_qp, IBV_WC_GRH; IBTA 8.3")
    void shouldDeliverADatagramWithItsSource(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.UNRELIABLE_DATAGRAM);
        int longest = longest(nodes);
        End one = End.of(nodes, nodes.requester(), longest);
        End other = End.of(nodes, nodes.responder(), longest);
        for (End[] way : new End[][] {{one, other}, {other, one}}) {
            End from = way[0];
            End to = way[1];
            AddressHandle host = from.way(nodes, to);
            for (int length : new int[] {longest, longest - 1, 255, 3, 1, 0}) {
                BytePattern pattern = nodes.pattern();
                pattern.fill(from.source.memory());
                to.receive(1, longest);
                from.endpoint.sendTo(2, from.source, length, host, to.number(), KEY);
                from.sent(2);
                Completion received = to.received(1, length);
                assertEquals(OptionalInt.of(from.number()), received.source(), received::toString);
                assertEquals(OptionalInt.empty(), received.immediate(), received::toString);
                assertTrue(received.routingHeader(), received::toString);
                MemorySegment inbox = to.inbox.memory();
                assertEquals(from.endpoint.unconnected().address().host().getAddress(), RoutingHeader.source(inbox));
                assertEquals(to.endpoint.unconnected().address().host().getAddress(), RoutingHeader.destination(inbox));
                pattern.require(to.payload().asSlice(0, length), "a datagram of " + length + " bytes");
                BytePattern.requireAll(to.payload().asSlice(length), BytePattern.POISON, "behind the datagram");
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 391,
            title = "the immediate of a datagram arrives with its bytes as it was given, and only with that datagram",
            source = "rdma-unit-test UdQpTest.SendWithImm; ibv_post_send(3) IBV_WR_SEND_WITH_IMM")
    void shouldDeliverTheImmediateOfADatagram(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        BytePattern pattern = nodes.pattern();
        pattern.fill(one.source.memory());
        for (int immediate : new int[] {0x01020304, 0, -1}) {
            other.receive(1, SMALL);
            Endpoint.require(
                    one.endpoint
                            .queuePair()
                            .postSendImmediateTo(
                                    2,
                                    one.source,
                                    0,
                                    SMALL,
                                    host,
                                    other.number(),
                                    KEY,
                                    immediate,
                                    SendFlags.SIGNALLED | SendFlags.SOLICITED),
                    "a datagram with an immediate");
            one.sent(2);
            assertEquals(OptionalInt.of(immediate), other.received(1, SMALL).immediate());
            pattern.require(other.payload(), "a datagram with an immediate");
            other.receive(3, SMALL);
            Endpoint.require(
                    one.endpoint
                            .queuePair()
                            .post(new SendWorkRequest()
                                    .send(4, SendFlags.SIGNALLED)
                                    .to(host, other.number(), KEY)
                                    .add(one.source, 0, 5)
                                    .add(one.source, 5, 6)),
                    "a datagram of two entries");
            one.sent(4);
            assertEquals(OptionalInt.empty(), other.received(3, 11).immediate());
            pattern.require(other.payload().asSlice(0, 11), "a datagram of two entries");
        }
    }

    @Test
    @ConformanceCase(
            number = 392,
            title = "a datagram with another queue key is lost, and a negative key stands for the sender's own",
            source = "rdma-unit-test UdQpTest.SendInvalidQkey; IBTA 10.2.5; ibv_modify_qp(3) qkey")
    void shouldLoseADatagramWithAnotherQueueKey(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        other.receive(1, SMALL);
        for (int key : new int[] {KEY + 1, 0, KEY ^ 0x4000_0000}) {
            one.endpoint.sendTo(2, one.source, 5, host, other.number(), key);
            one.sent(2);
        }
        nodes.linger(WAIT_NS);
        other.endpoint.receives().expectNone("no datagram had the right key");
        one.endpoint.sendTo(3, one.source, 6, host, other.number(), KEY);
        one.sent(3);
        other.received(1, 6);
        other.receive(4, SMALL);
        one.endpoint.sendTo(5, one.source, 7, host, other.number(), 0x8000_0000 | 1);
        one.sent(5);
        other.received(4, 7);
        expectWorking(one, other);
    }

    @Test
    @ConformanceCase(
            number = 393,
            title = "a datagram to a number that nobody has, or of another type, is lost, and nobody's state changes",
            source = "rdma-unit-test UdQpTest.SendInvalidQpn; IBTA 9.8.2")
    void shouldLoseADatagramThatNobodyTakes(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        LoopbackPair connected = nodes.connect();
        Endpoint gone = nodes.unconnected(nodes.responder(), LIMITS, QueuePairType.UNRELIABLE_DATAGRAM, KEY);
        int freed = gone.queuePair().number();
        gone.queuePair().close();
        connected.responder().receive(9, other.inbox, 0, HEADER + SMALL);
        for (int number : new int[] {freed, connected.responder().queuePair().number(), 0xFFFFF0}) {
            one.endpoint.sendTo(1, one.source, SMALL, host, number, KEY);
            one.sent(1);
        }
        other.receive(2, SMALL);
        one.endpoint.sendTo(3, one.source, SMALL, host, other.number(), KEY);
        one.sent(3);
        other.received(2, SMALL);
        connected.responder().receives().expectNone("a datagram is no message of a connection");
        connected.barrier();
        connected.requester().send(4, one.source, 0, 1);
        connected.requester().sends().expect(4, CompletionOpcode.SEND, 0);
        connected.responder().receives().expect(9, CompletionOpcode.RECEIVE, 1);
    }

    @Test
    @ConformanceCase(
            number = 394,
            title = "a datagram that finds no RECV is lost, and its success says only that it has left",
            source = "rdma-unit-test UdQpTest.SendRnr; IBTA 9.8.3.2.2")
    void shouldLoseADatagramThatFindsNoReceive(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        boolean lost = false;
        for (int attempt = 1; attempt <= ATTEMPTS && !lost; attempt++) {
            one.endpoint.sendTo(1, one.source, 1, host, other.number(), KEY);
            one.sent(1);
            nodes.linger(attempt * WAIT_NS); // the network may be slow
            other.receive(2, SMALL);
            one.endpoint.sendTo(3, one.source, 2, host, other.number(), KEY);
            one.sent(3);
            Completion first = other.endpoint.receives().next("a datagram");
            assertTrue(first.isSuccess(), first::toString);
            lost = first.byteLength() == HEADER + 2;
        }
        assertTrue(lost, "a datagram without a RECV was kept until there was one, " + ATTEMPTS + " times");
        expectWorking(one, other);
    }

    @Test
    @ConformanceCase(
            number = 395,
            title = "a datagram longer than its RECV is lost, and the RECV takes the next one that fits",
            source = "rdma-unit-test UdQpTest.SendLargerThanRecv; IBTA 9.8.3.2.2 (class D: dropped)")
    void shouldLoseADatagramThatIsTooLongForItsReceive(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        BytePattern pattern = nodes.pattern();
        pattern.fill(one.source.memory());
        other.receive(1, 7);
        one.endpoint.sendTo(2, one.source, 8, host, other.number(), KEY);
        one.sent(2);
        one.endpoint.sendTo(3, one.source, 7, host, other.number(), KEY);
        one.sent(3);
        other.received(1, 7);
        pattern.require(other.payload().asSlice(0, 7), "the datagram that fits");
        BytePattern.requireAll(other.payload().asSlice(7), BytePattern.POISON, "behind the RECV");
        expectWorking(one, other);
    }

    @Test
    @ConformanceCase(
            number = 396,
            title = "what a queue pair of datagrams cannot do is refused at the post, and nothing is posted",
            source = "rdma-unit-test UdQpTest.Read, Write, FetchAdd, SendLargerThanMtu; ibv_post_send(3)")
    void shouldRefuseWhatIsNoDatagram(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), longest(nodes) + 1);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        QueuePair queuePair = one.endpoint.queuePair();
        MemoryRegion region = one.source;
        int number = other.number();
        int none = SendFlags.NONE;
        refused(() -> queuePair.postSendTo(1, region, 0, longest(nodes) + 1, host, number, KEY, none));
        refused(() -> queuePair.postSendTo(1, region, 0, 1, host, number, KEY, SendFlags.FENCE));
        refused(() -> queuePair.postSend(1, region, 0, 1, none));
        refused(() -> queuePair.post(new SendWorkRequest().sendImmediate(1, 2, none)));
        refused(() -> queuePair.postRead(1, region, 0, 1, 0, BAD_KEY, none));
        refused(() -> queuePair.postWrite(1, region, 0, 1, 0, BAD_KEY, none));
        refused(() ->
                queuePair.post(new SendWorkRequest().write(1, 0, BAD_KEY, none).to(host, number, KEY)));
        refused(() -> queuePair.postSendTo(1, region, 0, 1, FeatureGate.NOWHERE, number, KEY, none));
        ProtectionDomain domain = nodes.requester().otherDomain();
        AddressHandle elsewhere = nodes.own(domain.createAddressHandle(host.host()));
        refused(() -> queuePair.postSendTo(1, region, 0, 1, elsewhere, number, KEY, none));
        AddressHandle closed = one.way(nodes, other);
        closed.close();
        assertThrows(
                IllegalStateException.class, () -> queuePair.postSendTo(1, region, 0, 1, closed, number, KEY, none));
        LoopbackPair connected = nodes.connect();
        refused(() -> connected.requester().queuePair().postSendTo(1, region, 0, 1, host, number, KEY, none));
        expectWorking(one, other);
    }

    private static void refused(org.junit.jupiter.api.function.Executable post) {
        assertThrows(IllegalArgumentException.class, post);
    }

    @Test
    @ConformanceCase(
            number = 397,
            title = "one queue pair answers many, each by a handle of its own, inline and mostly unsignalled",
            source = "HERD (SIGCOMM 2014), section 4: one UD queue pair per server process")
    void shouldAnswerManyFromOneQueuePair(TwoNodes nodes) {
        int clients = 8;
        int signalEvery = 16;
        End server = End.of(nodes, nodes.responder(), SMALL);
        List<End> ends = new ArrayList<>();
        List<AddressHandle> handles = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            ends.add(End.of(nodes, nodes.requester(), SMALL));
            handles.add(server.way(nodes, ends.get(i)));
        }
        int rounds = nodes.times(400);
        for (int i = 0; i < rounds; i++) {
            End client = ends.get(i % clients);
            BytePattern pattern = nodes.pattern();
            pattern.fill(server.source.memory().asSlice(0, 16));
            client.receive(i, SMALL);
            boolean signalled = i % signalEvery == signalEvery - 1;
            Endpoint.require(
                    server.endpoint
                            .queuePair()
                            .postSendTo(
                                    i,
                                    server.source,
                                    0,
                                    16,
                                    handles.get(i % clients),
                                    client.number(),
                                    KEY,
                                    SendFlags.INLINE | (signalled ? SendFlags.SIGNALLED : SendFlags.NONE)),
                    "an answer");
            server.source.memory().fill(BytePattern.POISON);
            Completion received = client.received(i, 16);
            assertEquals(OptionalInt.of(server.number()), received.source(), received::toString);
            pattern.require(client.payload().asSlice(0, 16), "an answer");
            if (signalled) {
                server.sent(i);
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 398,
            title = "in ERROR a queue pair of datagrams flushes its RECVs and whatever is posted then",
            source = "IBTA 10.3.1.5; ibv_modify_qp(3)")
    void shouldFlushWhenInError(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        End other = End.of(nodes, nodes.responder(), SMALL);
        AddressHandle host = one.way(nodes, other);
        QueuePair queuePair = one.endpoint.queuePair();
        for (int i = 0; i < 3; i++) {
            one.receive(i, SMALL);
        }
        queuePair.disconnect();
        assertEquals(QueuePairState.ERROR, queuePair.state());
        for (int i = 0; i < 3; i++) {
            one.endpoint.receives().expect(i, Set.of(CompletionStatus.FLUSHED), "a RECV of a queue pair in ERROR");
        }
        one.receive(7, SMALL);
        one.endpoint.receives().expect(7, Set.of(CompletionStatus.FLUSHED), "a RECV posted in ERROR");
        Endpoint.require(
                queuePair.postSendTo(8, one.source, 0, 1, host, other.number(), KEY, SendFlags.NONE),
                "a datagram posted in ERROR");
        one.endpoint.sends().expect(8, Set.of(CompletionStatus.FLUSHED), "a datagram posted in ERROR");
        assertEquals(QueuePairState.READY_TO_SEND, other.endpoint.queuePair().state());
    }

    @Test
    @ConformanceCase(
            number = 399,
            title = "a domain with an address handle cannot be closed, and closing a handle twice is one closing",
            source = "ibv_dealloc_pd(3) EBUSY; ibv_destroy_ah(3)")
    void shouldKeepTheDomainOfAHandleOpen(TwoNodes nodes) {
        End one = End.of(nodes, nodes.requester(), SMALL);
        ProtectionDomain domain = nodes.requester().otherDomain();
        AddressHandle handle = nodes.own(
                domain.createAddressHandle(one.endpoint.unconnected().address().host()));
        assertEquals(domain, handle.protectionDomain());
        assertEquals(one.endpoint.unconnected().address().host(), handle.host());
        VerbsException busy = assertThrows(VerbsException.class, domain::close);
        assertEquals(VerbsErrorCode.BUSY, busy.code());
        handle.close();
        handle.close();
        domain.close();
        assertThrows(IllegalStateException.class, () -> domain.createAddressHandle(handle.host()));
    }

    /** A datagram each way still arrives. */
    private static void expectWorking(End one, End other) {
        assertEquals(QueuePairState.READY_TO_SEND, one.endpoint.queuePair().state());
        assertEquals(QueuePairState.READY_TO_SEND, other.endpoint.queuePair().state());
        one.endpoint.sends().expectNone("nothing else was posted");
        other.endpoint.receives().expectNone("nothing else was sent");
    }
}
