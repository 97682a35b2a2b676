package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;

/** Windows of type 2: what they open and for whom, what cannot be bound, and that a bound one holds its region. */
@ExtendWith(TwoNodesExtension.class)
public final class WindowCases {
    private static final int BYTES = 4096;
    /** A window's part of the region, with margins before and behind it. */
    private static final int MARGIN = 1024;

    private static final int PART = BYTES - 2 * MARGIN;

    /** Made by JUnit. */
    public WindowCases() {}

    /** Rights for binding, and none for peers. */
    private static MemoryRegion bindable(TwoNodes nodes) {
        return nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS);
    }

    private static MemoryWindow window(TwoNodes nodes) {
        return nodes.own(nodes.responder().domain().allocateWindow());
    }

    /** Binds the middle of a region and waits for that. */
    private static MemoryWindow bound(TwoNodes nodes, LoopbackPair pair, MemoryRegion region, AccessFlag... access) {
        MemoryWindow window = window(nodes);
        bind(pair, window, region, access);
        return window;
    }

    private static void bind(LoopbackPair pair, MemoryWindow window, MemoryRegion region, AccessFlag... access) {
        pair.responder().bind(91, window, region, MARGIN, PART, access);
        pair.responder().sends().expect(91, CompletionOpcode.BIND_WINDOW, 0);
    }

    private static void expectReadable(TwoNodes nodes, LoopbackPair pair, MemoryRegion region, int key, String what) {
        BytePattern pattern = nodes.pattern();
        pattern.fill(region.memory().asSlice(MARGIN, PART));
        MemoryRegion sink = nodes.requester().region(PART, AccessFlag.READ_SINK);
        pair.requester().read(92, sink, 0, PART, region.address() + MARGIN, key);
        pair.requester().sends().expect(92, CompletionOpcode.READ, PART);
        pattern.require(sink.memory(), what);
    }

    private static void expectUnreadable(TwoNodes nodes, LoopbackPair pair, MemoryRegion region, int key, String what) {
        Refusals.expectReadRefused(nodes, pair, region.address() + MARGIN, key, PART, what);
    }

    @Test
    @ConformanceCase(
            number = 114,
            title = "a SEND that invalidates a window tells its key, and the window is closed when its RECV completes",
            source = "rdma-unit-test RcQpTest.SendWithInvalidate; RFC 5040 section 5.3; ibv_poll_cq(3) IBV_WC_WITH_INV")
    void shouldCloseTheWindowWhenThePeersSendInvalidatesIt(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        FeatureGate.require(nodes, Feature.SEND_INVALIDATE);
        MemoryRegion region = bindable(nodes);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(MARGIN, pattern);
        MemoryRegion inbox = nodes.responder().region(MARGIN, AccessFlag.RECEIVE_SINK);
        LoopbackPair pair = nodes.connect();
        MemoryWindow window = window(nodes);
        for (int length : new int[] {MARGIN, 0, 1}) {
            bind(pair, window, region, AccessFlag.REMOTE_READ);
            expectReadable(nodes, pair, region, window.rkey(), "READ through the window");
            inbox.memory().fill(BytePattern.POISON);
            pair.responder().receive(1, inbox, 0, MARGIN);
            pair.requester().sendInvalidate(2, source, length, window.rkey());
            Completion received = pair.responder().receives().expect(1, CompletionOpcode.RECEIVE, length);
            assertTrue(received.immediate().isEmpty(), received::toString);
            assertEquals(window.rkey(), received.invalidatedKey().orElseThrow(), received::toString);
            pattern.require(inbox.memory().asSlice(0, length), "SEND that invalidates");
            BytePattern.requireAll(inbox.memory().asSlice(length), BytePattern.POISON, "behind the message");
            pair.requester().sends().expect(2, CompletionOpcode.SEND, length);
        }
        expectUnreadable(nodes, pair, region, window.rkey(), "READ through a window that a SEND has invalidated");
        region.close(); // Would be refused if the window were still bound.
    }

    @Test
    @ConformanceCase(
            number = 115,
            title = "a SEND that is to invalidate a key of nothing fails its RECV and ends the connection",
            source = "rdma-unit-test RcQpTest.SendWithInvalidateBadRkey; RFC 5040 section 7.1; IBTA 9.9.6.3 (class J)")
    void shouldFailTheReceiveWhenTheKeyCannotBeInvalidated(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SEND_INVALIDATE);
        for (int key : new int[] {0xDEADBEEF, 0}) {
            expectInvalidationRefused(nodes, nodes.connect(), key, "a key of nothing");
        }
    }

    private static void expectInvalidationRefused(TwoNodes nodes, LoopbackPair pair, int key, String what) {
        MemoryRegion source = nodes.requester().region(MARGIN, nodes.pattern());
        MemoryRegion inbox = nodes.responder().region(MARGIN, AccessFlag.RECEIVE_SINK);
        pair.responder().receive(1, inbox, 0, MARGIN);
        pair.requester().sendInvalidate(2, source, 8, key);
        pair.responder()
                .receives()
                .expect(1, nodes.traits().features().receiveOfRefusedInvalidation(), "RECV: " + what);
        pair.requester().sends().expect(2, nodes.traits().features().sendOfRefusedInvalidation(), "SEND: " + what);
        pair.expectBothBroken();
    }

    @Test
    @ConformanceCase(
            number = 362,
            title = "the key of a region is not invalidated by a peer's SEND: the region stays as it was",
            source = "QueuePair.postSendInvalidate; IBTA 10.6.5 (only what is bound or registered by a request)")
    void shouldKeepTheRegionWhenASendNamesItsKey(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SEND_INVALIDATE);
        MemoryRegion region = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        expectInvalidationRefused(nodes, nodes.connect(), region.rkey(), "the key of a region");
        expectReadable(nodes, nodes.connect(), region, region.rkey(), "a region that a SEND has named");
    }

    @Test
    @ConformanceCase(
            number = 363,
            title = "a peer cannot invalidate a window that another queue pair has bound",
            source = "RFC 5040 section 8.1.1; IBTA 10.6.7.2 (type 2B); QueuePair.postSendInvalidate")
    void shouldKeepTheWindowWhenAnotherPeerNamesItsKey(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        FeatureGate.require(nodes, Feature.SEND_INVALIDATE);
        MemoryRegion region = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        LoopbackPair stranger = nodes.connect();
        MemoryWindow window = bound(nodes, pair, region, AccessFlag.REMOTE_READ);
        expectInvalidationRefused(nodes, stranger, window.rkey(), "the window of another queue pair");
        expectReadable(nodes, pair, region, window.rkey(), "a window that a stranger has named");
    }

    @Test
    @ConformanceCase(
            number = 364,
            title = "a window is invalidated once: a second SEND with its key ends the connection",
            source = "RFC 5040 section 7.1 (STag cannot be invalidated); IBTA 10.6.7.2.6")
    void shouldRefuseTheSecondInvalidation(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        FeatureGate.require(nodes, Feature.SEND_INVALIDATE);
        nodes.require(
                !nodes.traits().has(Trait.CRASHES_AT_SECOND_INVALIDATION),
                "the kernel follows a null pointer when a free window is invalidated (rxe_mw.c)");
        MemoryRegion region = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        MemoryWindow window = bound(nodes, pair, region, AccessFlag.REMOTE_READ);
        pair.responder().invalidate(1, window.rkey());
        pair.responder().sends().expect(1, CompletionOpcode.INVALIDATE, 0);
        expectInvalidationRefused(nodes, pair, window.rkey(), "a window that is not bound any more");
        LoopbackPair local = nodes.connect();
        local.responder().invalidate(2, window.rkey());
        local.responder()
                .sends()
                .expect(2, nodes.traits().features().invalidationRefused(), "invalidation of a free window");
        local.expectBothBroken();
    }

    @Test
    @ConformanceCase(
            number = 134,
            title = "a window opens its part of the region and not one byte more",
            source = "rdma-unit-test MwType2Test.Read, Write, BufferTest.MwType2 ReadExceed, WriteExceed")
    void shouldOpenExactlyItsPart(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        MemoryWindow window = bound(nodes, pair, region, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        long first = region.address() + MARGIN;
        expectReadable(nodes, pair, region, window.rkey(), "READ of the whole window");
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(PART, pattern);
        region.memory().fill(BytePattern.POISON);
        pair.requester().write(1, source, 0, PART, first, window.rkey());
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, PART);
        pair.barrier();
        pattern.require(region.memory().asSlice(MARGIN, PART), "WRITE of the whole window");
        BytePattern.requireAll(region.memory().asSlice(0, MARGIN), BytePattern.POISON, "before the window");
        BytePattern.requireAll(region.memory().asSlice(MARGIN + PART), BytePattern.POISON, "behind the window");
        for (long address : new long[] {first - 1, first + 1, first + PART, region.address()}) {
            LoopbackPair reading = nodes.connect();
            int key = bound(nodes, reading, region, AccessFlag.REMOTE_READ).rkey();
            Refusals.expectReadRefused(nodes, reading, address, key, PART, "READ that leaves the window");
            LoopbackPair writing = nodes.connect();
            key = bound(nodes, writing, region, AccessFlag.REMOTE_WRITE).rkey();
            region.memory().fill(BytePattern.POISON);
            Refusals.expectWriteRefused(
                    nodes, writing, address, key, PART, region.memory(), "WRITE that leaves the window");
        }
    }

    @Test
    @ConformanceCase(
            number = 365,
            title = "two windows of one region have rights of their own, and the region keeps its keys and rights",
            source = "rdma-unit-test MwType2Test.ReadWithoutRemoteRead, MwTest; ibv_post_send(3) IBV_WR_BIND_MW")
    void shouldGiveEachWindowItsOwnRights(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        MemoryWindow readable = bound(nodes, pair, region, AccessFlag.REMOTE_READ);
        MemoryWindow writable = bound(nodes, pair, region, AccessFlag.REMOTE_WRITE);
        assertNotEquals(readable.rkey(), writable.rkey());
        assertNotEquals(region.rkey(), readable.rkey());
        assertSame(nodes.responder().domain(), readable.protectionDomain());
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(PART, pattern);
        pair.requester().write(1, source, 0, PART, region.address() + MARGIN, writable.rkey());
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, PART);
        pair.barrier();
        pattern.require(region.memory().asSlice(MARGIN, PART), "WRITE through the writable window");
        expectReadable(nodes, pair, region, readable.rkey(), "READ through the readable window");
        expectUnreadable(nodes, pair, region, writable.rkey(), "READ through the writable window");
        expectUnreadable(nodes, nodes.connect(), region, region.rkey(), "READ by the region's own key");
        LoopbackPair writing = nodes.connect();
        int key = bound(nodes, writing, region, AccessFlag.REMOTE_READ).rkey();
        region.memory().fill(BytePattern.POISON);
        Refusals.expectWriteRefused(
                nodes,
                writing,
                region.address() + MARGIN,
                key,
                PART,
                region.memory(),
                "WRITE through a readable window");
    }

    @Test
    @ConformanceCase(
            number = 366,
            title = "a window is open to the peer of the queue pair that bound it, and to no other",
            source = "IBTA 10.6.7.2 (type 2B); rdma-unit-test MwType2Test.CrossQpRead")
    void shouldOpenTheWindowToOnePeer(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        MemoryWindow window = bound(nodes, pair, region, AccessFlag.REMOTE_READ);
        expectUnreadable(
                nodes, nodes.connect(), region, window.rkey(), "READ through the window of another queue pair");
        expectReadable(nodes, pair, region, window.rkey(), "READ by the peer of the window");
    }

    @Test
    @ConformanceCase(
            number = 367,
            title = "atomics through a window need REMOTE_ATOMIC on it, and none on the region",
            source = "ibv_post_send(3) IBV_WR_BIND_MW; rdma-unit-test MwType2Test.FetchAdd")
    void shouldLetAtomicsThroughAWindow(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion region = bindable(nodes);
        MemoryRegion result = nodes.requester().region(Long.BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        MemoryWindow open = bound(nodes, pair, region, AccessFlag.REMOTE_ATOMIC);
        MemoryWindow closed = bound(nodes, pair, region, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        for (int i = 0; i < 3; i++) {
            pair.requester().fetchAndAdd(i, result, 0, region.address() + MARGIN, open.rkey(), 1);
            pair.requester().sends().expect(i, CompletionOpcode.FETCH_AND_ADD, Long.BYTES);
            assertEquals(i, result.memory().get(ValueLayout.JAVA_LONG, 0), "old value");
        }
        pair.requester().fetchAndAdd(4, result, 0, region.address() + MARGIN, closed.rkey(), 1);
        pair.requester().sends().expect(4, nodes.traits().readRefused(), "atomic through a window without the right");
        pair.expectBothBroken();
        assertEquals(3, region.memory().get(ValueLayout.JAVA_LONG, MARGIN));
    }

    /** Posts a bind that must fail although nobody asked for its completion. */
    private static void expectBindFails(
            TwoNodes nodes,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            AccessFlag access,
            String what) {
        LoopbackPair pair = nodes.connect();
        expectBindFails(nodes, pair, window, region, offset, length, access, what);
    }

    private static void expectBindFails(
            TwoNodes nodes,
            LoopbackPair pair,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            AccessFlag access,
            String what) {
        QueuePair binding = pair.responder().queuePair();
        Endpoint.require(
                binding.postBindWindow(5, window, region, offset, length, Set.of(access), SendFlags.NONE),
                "BIND_WINDOW");
        try {
            pair.responder().sends().expect(5, nodes.traits().features().bindRefused(), what);
        } catch (AssertionError e) {
            window.close(); // If it is bound after all: rxe keeps its queue pair for a minute.
            throw e;
        }
        pair.expectBothBroken();
    }

    @Test
    @ConformanceCase(
            number = 135,
            title = "a bind fails without BIND_WINDOWS, outside of the region, of nothing, and for WRITEs to a region"
                    + " without LOCAL_WRITE",
            source =
                    "rdma-unit-test MwType2Test.BindInvalidMr, MwTest.BindTooBig; IBTA C10-72 to C10-75; ibv_post_send(3)")
    void shouldFailTheBindWhenTheRegionDoesNotAllowIt(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        Node node = nodes.responder();
        MemoryRegion region = bindable(nodes);
        MemoryRegion closed = node.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        MemoryRegion constant = node.region(BYTES, AccessFlag.REMOTE_READ, AccessFlag.BIND_WINDOWS);
        MemoryWindow window = window(nodes);
        AccessFlag read = AccessFlag.REMOTE_READ;
        expectBindFails(nodes, window, closed, 0, BYTES, read, "bind to a region without BIND_WINDOWS");
        expectBindFails(nodes, window, region, 0, BYTES + 1, read, "bind of more than the region");
        expectBindFails(nodes, window, region, 1, BYTES, read, "bind to one byte behind the region");
        expectBindFails(nodes, window, region, -1, 1, read, "bind to the byte before the region");
        expectBindFails(nodes, window, region, BYTES, 1, read, "bind to the byte behind the region");
        expectBindFails(nodes, window, region, 0, 0, read, "bind of 0 bytes");
        expectBindFails(nodes, window, constant, 0, 1, AccessFlag.REMOTE_WRITE, "WRITEs to a constant region");
        if (nodes.requester().device().capabilities().has(Feature.ATOMICS)) {
            expectBindFails(nodes, window, constant, 0, 8, AccessFlag.REMOTE_ATOMIC, "atomics on a constant region");
        }
        MemoryWindow foreign = nodes.own(node.otherDomain().allocateWindow());
        expectBindFails(nodes, foreign, region, 0, 1, read, "bind of a window of another domain");
        LoopbackPair pair = nodes.connect();
        bind(pair, window, region, read);
        expectReadable(nodes, pair, region, window.rkey(), "a window whose binds have failed before");
        for (AccessFlag flag : new AccessFlag[] {AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS}) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.responder()
                            .queuePair()
                            .postBindWindow(1, window, region, 0, 1, Set.of(flag), SendFlags.NONE),
                    flag + " of a window");
        }
        window.close();
    }

    @Test
    @ConformanceCase(
            number = 368,
            title = "a window is not bound to a region of another domain",
            source = "IBTA C10-72; rdma-unit-test PdBindTest.MrOnOtherPd; ibv_post_send(3) IBV_WR_BIND_MW")
    void shouldFailTheBindWhenTheRegionIsOfAnotherDomain(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        Node node = nodes.responder();
        MemoryRegion foreign =
                node.register(node.otherDomain(), node.memory(BYTES), AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS);
        expectBindFails(
                nodes, window(nodes), foreign, 0, BYTES, AccessFlag.REMOTE_READ, "bind to a region of another domain");
    }

    @Test
    @ConformanceCase(
            number = 136,
            title = "an invalidated window can be bound again and has another key; the old one is dead",
            source = "rdma-unit-test MwType2Test.LocalInvalidate, Rebind, DestroyMw, DeregMrWhenBound; IBTA 10.6.7.2")
    void shouldHaveAnotherKeyWhenBoundAgain(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        MemoryWindow window = bound(nodes, pair, region, AccessFlag.REMOTE_READ);
        int old = window.rkey();
        Refusals.expectBusy(region::close, "closing a region with a bound window");
        expectReadable(nodes, pair, region, old, "READ through the window whose region would not close");
        pair.responder().invalidate(1, old);
        pair.responder().sends().expect(1, CompletionOpcode.INVALIDATE, 0);
        bind(pair, window, region, AccessFlag.REMOTE_READ);
        assertNotEquals(old, window.rkey(), "key of the second bind");
        expectReadable(nodes, pair, region, window.rkey(), "READ by the second key");
        expectUnreadable(nodes, pair, region, old, "READ by the first key");
        window.close();
        window.close();
        LoopbackPair next = nodes.connect();
        MemoryWindow closed = bound(nodes, next, region, AccessFlag.REMOTE_READ);
        int key = closed.rkey();
        expectReadable(nodes, next, region, key, "READ through a window");
        closed.close();
        expectUnreadable(nodes, next, region, key, "READ through a window that is closed");
        region.close(); // Would be refused if a window were still bound.
    }

    @Test
    @ConformanceCase(
            number = 369,
            title = "a bound window cannot be bound again, to the same region or another, and stays as it was",
            source = "IBTA o10-37.2.30; rdma-unit-test MwType2Test.BindValidState; ibv_post_send(3) IBV_WR_BIND_MW")
    void shouldFailTheBindWhenTheWindowIsBound(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region = bindable(nodes);
        MemoryRegion other = bindable(nodes);
        LoopbackPair pair = nodes.connect();
        LoopbackPair binding = nodes.connect();
        MemoryWindow window = bound(nodes, pair, region, AccessFlag.REMOTE_READ);
        int key = window.rkey();
        expectBindFails(
                nodes, binding, window, other, 0, 1, AccessFlag.REMOTE_READ, "second bind, by another queue pair");
        expectReadable(nodes, pair, region, key, "READ by the key of the first bind");
        other.close(); // Would be refused if the second bind had done something.
        expectBindFails(
                nodes,
                pair,
                window,
                region,
                MARGIN,
                PART,
                AccessFlag.REMOTE_WRITE,
                "second bind by the same queue pair");
    }

    @Test
    @ConformanceCase(
            number = 370,
            title = "a SEND behind a bind on its queue pair may carry the key: the peer can use it at once",
            source = "IBTA 10.6.7.2.5 (ordering of binds); MemoryWindow.rkey")
    void shouldBeOpenWhenTheSendBehindTheBindArrives(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region = bindable(nodes);
        MemoryRegion message = nodes.responder().region(Integer.BYTES);
        MemoryRegion inbox = nodes.requester().region(Integer.BYTES, AccessFlag.RECEIVE_SINK);
        LoopbackPair pair = nodes.connect();
        pair.barrier(); // The requester sends first.
        MemoryWindow window = window(nodes);
        for (int i = 0; i < nodes.times(200); i++) {
            pair.requester().receive(1, inbox, 0, Integer.BYTES);
            pair.responder().bind(2, window, region, MARGIN, PART, AccessFlag.REMOTE_READ);
            message.memory().set(ValueLayout.JAVA_INT, 0, window.rkey());
            pair.responder().send(3, message, 0, Integer.BYTES);
            pair.requester().receives().expect(1, CompletionOpcode.RECEIVE, Integer.BYTES);
            int key = inbox.memory().get(ValueLayout.JAVA_INT, 0);
            expectReadable(nodes, pair, region, key, "READ by the key of a message, round " + i);
            pair.responder().sends().expect(2, CompletionOpcode.BIND_WINDOW, 0);
            pair.responder().sends().expect(3, CompletionOpcode.SEND, Integer.BYTES);
            pair.responder().invalidate(4, key);
            pair.responder().sends().expect(4, CompletionOpcode.INVALIDATE, 0);
        }
    }

    @Test
    @ConformanceCase(
            number = 371,
            title = "a domain with a window refuses to close, and closes once that is gone",
            source = "rdma-unit-test PdTest.DeleteWithMw; ibv_dealloc_pd(3) EBUSY; ProtectionDomain.close")
    void shouldRefuseToCloseTheDomainWhenAWindowLives(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        ProtectionDomain domain = nodes.responder().otherDomain();
        MemoryWindow window = domain.allocateWindow();
        assertEquals(0, window.rkey(), "key before the first bind");
        Refusals.expectBusy(domain::close, "closing a domain with a window");
        window.close();
        domain.close();
        assertThrows(IllegalStateException.class, domain::allocateWindow);
    }
}
