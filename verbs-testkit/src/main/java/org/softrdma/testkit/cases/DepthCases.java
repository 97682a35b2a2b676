package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;

/** A peer that grants fewer READs and atomics in flight than are wanted: the requester waits, or is refused, never hangs. */
@ExtendWith(TwoNodesExtension.class)
public final class DepthCases {
    private static final int WORD = Long.BYTES;
    private static final int WANTED = 4;

    /** Made by JUnit. */
    public DepthCases() {}

    private static ConnectionParameters reads(int out, int in) {
        return new ConnectionParameters(out, in, new byte[0]);
    }

    /** The requester wants {@link #WANTED} in flight, the responder grants so many. */
    private static LoopbackPair connect(TwoNodes nodes, int granted) {
        return nodes.connect(new ConnectionSpec().parameters(reads(WANTED, WANTED), reads(WANTED, granted)));
    }

    private static OptionalInt outbound(LoopbackPair pair) {
        return pair.requester().queuePair().connectionCapabilities().maxOutboundReads();
    }

    private static OptionalInt inbound(LoopbackPair pair) {
        return pair.responder().queuePair().connectionCapabilities().maxInboundReads();
    }

    /** True if the ends told each other their depths, so that the requester keeps to what is granted. */
    private static boolean agree(LoopbackPair pair) {
        return outbound(pair).isEmpty()
                || inbound(pair).isEmpty()
                || outbound(pair).getAsInt() <= inbound(pair).getAsInt();
    }

    @Test
    @ConformanceCase(
            number = 126,
            title = "a depth granted below the need makes requests wait; one of 0 refuses them when they are posted",
            source = "RFC 6581 section 9; rdma_accept(3) responder_resources; IBTA 9.4.4; RFC 7306 section 5.1")
    void shouldWaitOrRefuseWhenFewerAreGranted(TwoNodes nodes) {
        expectOneBelowTheNeed(nodes, connect(nodes, WANTED - 1));
        LoopbackPair none = connect(nodes, 0);
        if (!agree(none)) {
            expectOverrunRefused(nodes, none);
        } else if (outbound(none).isPresent()) {
            assertEquals(OptionalInt.of(0), outbound(none), "READs out where none is granted");
            expectRefusedWhenPosted(nodes, none);
        } else {
            postAndExpectAll(nodes, none); // The provider asks for what its device can do, whatever the wish.
        }
    }

    /** Requests in turn: READs, and atomics where there are any. All read the same word. */
    private static void post(TwoNodes nodes, LoopbackPair pair, int count) {
        boolean atomics = nodes.requester().device().capabilities().has(Feature.ATOMICS);
        MemoryRegion target = atomics
                ? nodes.responder()
                        .region(WORD, AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC)
                : nodes.responder().region(WORD, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region((long) count * WORD, AccessFlag.READ_SINK);
        for (int i = 0; i < count; i++) {
            if (atomics && i % 2 == 1) {
                pair.requester().fetchAndAdd(i, sink, (long) i * WORD, target.address(), target.rkey(), 1);
            } else {
                pair.requester().read(i, sink, (long) i * WORD, WORD, target.address(), target.rkey());
            }
        }
    }

    private static void postAndExpectAll(TwoNodes nodes, LoopbackPair pair) {
        int count = 16 * WANTED;
        post(nodes, pair, count);
        List<Completion> completions = pair.requester().sends().take(count, "requests that wait for each other");
        for (int i = 0; i < count; i++) {
            assertEquals(i, completions.get(i).wrId(), "order");
            assertEquals(CompletionStatus.SUCCESS, completions.get(i).status(), completions::toString);
        }
        assertEquals(QueuePairState.READY_TO_SEND, pair.responder().queuePair().state());
    }

    private static void expectOneBelowTheNeed(TwoNodes nodes, LoopbackPair pair) {
        if (agree(pair)) {
            postAndExpectAll(nodes, pair);
            return;
        }
        // Each end keeps a depth of its own: whether one too many is ever in flight depends on how fast they are.
        int count = 16 * WANTED;
        post(nodes, pair, count);
        Refusals.expectSuccessesThenFlushes(
                nodes,
                pair.requester().sends().take(count, "requests beyond what the peer holds"),
                overrunStatuses(nodes),
                "requests beyond what the peer holds");
    }

    /** The peer has no room for what comes, which ends the connection. */
    private static void expectOverrunRefused(TwoNodes nodes, LoopbackPair pair) {
        post(nodes, pair, 2);
        Set<CompletionStatus> lawful = new HashSet<>(overrunStatuses(nodes));
        lawful.add(CompletionStatus.FLUSHED);
        pair.requester().sends().expect(0, lawful, "a request that the peer has no room for");
        pair.requester().sends().expect(1, Set.of(CompletionStatus.FLUSHED), "the request behind it");
        pair.expectBothBroken();
    }

    private static Set<CompletionStatus> overrunStatuses(TwoNodes nodes) {
        Set<CompletionStatus> statuses = new HashSet<>(nodes.traits().readRefused());
        statuses.addAll(nodes.traits().features().misalignedAtomic());
        return statuses;
    }

    private static void expectRefusedWhenPosted(TwoNodes nodes, LoopbackPair pair) {
        MemoryRegion target = nodes.responder().region(WORD, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        MemoryRegion sink = nodes.requester().region(WORD, AccessFlag.READ_SINK);
        assertThrows(IllegalStateException.class, () -> pair.requester().read(1, sink, target));
        if (nodes.requester().device().capabilities().has(Feature.ATOMICS)) {
            assertThrows(
                    IllegalStateException.class,
                    () -> pair.requester().fetchAndAdd(1, sink, 0, target.address(), target.rkey(), 1));
            assertThrows(
                    IllegalStateException.class,
                    () -> pair.requester().compareAndSwap(1, sink, 0, target.address(), target.rkey(), 0, 1));
        }
        pair.responder().receive(2, target, 0, WORD);
        pair.requester().write(3, sink, target);
        pair.requester().send(4, sink, 0, WORD);
        pair.requester().sends().expect(3, CompletionOpcode.WRITE, WORD);
        pair.requester().sends().expect(4, CompletionOpcode.SEND, WORD);
        pair.responder().receives().expect(2, CompletionOpcode.RECEIVE, WORD);
        MemoryRegion readable = nodes.requester().region(WORD, AccessFlag.REMOTE_READ);
        MemoryRegion back = nodes.responder().region(WORD, AccessFlag.READ_SINK);
        assertTrue(
                pair.responder()
                                .queuePair()
                                .connectionCapabilities()
                                .maxOutboundReads()
                                .orElse(WANTED)
                        > 0,
                "the other way READs are granted");
        pair.responder().read(5, back, readable);
        pair.responder().sends().expect(5, CompletionOpcode.READ, WORD);
    }
}
