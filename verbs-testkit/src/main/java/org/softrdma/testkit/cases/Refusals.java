package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.function.Executable;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Checks what follows a refused request, the same in every case. The pair cannot be used afterwards. */
final class Refusals {
    private static final int BYTES = 64;

    private Refusals() {}

    /**
     * Posts a READ that the peer must refuse, with a good one behind it. The first must fail, the second be flushed,
     * the sink stay unchanged, both ends go to ERROR, and nothing complete at the responder.
     */
    static void expectReadRefused(
            TwoNodes nodes, LoopbackPair pair, long remoteAddress, int rkey, long length, String what) {
        MemoryRegion sink = nodes.requester().region(Math.max(length, BYTES), AccessFlag.READ_SINK);
        sink.memory().fill(BytePattern.POISON);
        MemoryRegion good = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        Endpoint requester = pair.requester();
        requester.read(1, sink, 0, length, remoteAddress, rkey);
        requester.read(2, sink, 0, BYTES, good.address(), good.rkey());
        requester.sends().expect(1, nodes.traits().readRefused(), what);
        requester.sends().expect(2, Set.of(CompletionStatus.FLUSHED), "the READ behind the refused one: " + what);
        pair.expectBothBroken();
        BytePattern.requireAll(sink.memory(), BytePattern.POISON, "sink of the refused READ: " + what);
        pair.responder().sends().expectNone("the responder posted nothing");
    }

    /** Posts a WRITE that the peer must refuse. The caller has filled the memory that must not change with POISON. */
    static void expectWriteRefused(
            TwoNodes nodes,
            LoopbackPair pair,
            long remoteAddress,
            int rkey,
            long length,
            MemorySegment untouched,
            String what) {
        MemoryRegion source = nodes.requester().region(Math.max(length, 1), nodes.pattern());
        Endpoint requester = pair.requester();
        requester.write(1, source, 0, length, remoteAddress, rkey);
        requester.sends().expect(1, nodes.traits().writeRefused(), what);
        pair.expectBothBroken();
        BytePattern.requireAll(untouched, BytePattern.POISON, "memory around the refused WRITE: " + what);
        pair.responder().sends().expectNone("the responder posted nothing");
    }

    /** Checks the result of a request with a bad local entry that was posted as wrId 1. */
    static void expectLocalError(TwoNodes nodes, LoopbackPair pair, Set<CompletionStatus> statuses, String what) {
        expectLocalErrorOf(nodes, pair, 1, statuses, what);
    }

    /** Checks the result of a request with a bad local entry. */
    static void expectLocalErrorOf(
            TwoNodes nodes, LoopbackPair pair, long wrId, Set<CompletionStatus> statuses, String what) {
        pair.requester().sends().expect(wrId, statuses, what);
        pair.expectBothBroken();
        pair.responder().receives().expectNone("nothing was sent: " + what);
    }

    /**
     * Sends a message to a RECV with a bad local entry, which was posted at the responder as wrId 1.
     *
     * @param untouched filled with POISON by the caller
     */
    static void expectReceiveFails(TwoNodes nodes, LoopbackPair pair, MemorySegment untouched, String what) {
        MemoryRegion source = nodes.requester().region(BYTES, nodes.pattern());
        pair.requester().send(2, source, 0, BYTES);
        pair.responder().receives().expect(1, nodes.traits().badReceiveSink(), "RECV: " + what);
        pair.requester().sends().expect(2, nodes.traits().sendFailedAtPeer(), "SEND: " + what);
        pair.expectBothBroken();
        BytePattern.requireAll(untouched, BytePattern.POISON, "buffer of the failed RECV: " + what);
    }

    /**
     * Fails unless the completions are successes followed by failures, of which at most one is not FLUSHED; that is
     * the first one, unless the traits allow others to be flushed before the cause.
     *
     * @param completions of requests with wrIds that count up from 0
     * @param cause lawful statuses of the failure that is not FLUSHED
     * @return how many succeeded
     */
    static int expectSuccessesThenFlushes(
            TwoNodes nodes, List<Completion> completions, Set<CompletionStatus> cause, String what) {
        int succeeded = 0;
        int causes = 0;
        for (int i = 0; i < completions.size(); i++) {
            Completion completion = completions.get(i);
            assertEquals(i, completion.wrId(), what + ": order of completions");
            if (completion.isSuccess()) {
                assertEquals(i, succeeded, what + ": success after a failure: " + completion);
                succeeded++;
            } else if (completion.status() != CompletionStatus.FLUSHED) {
                boolean mayComeHere = i == succeeded || nodes.traits().has(Trait.FLUSHES_BEFORE_THE_CAUSE);
                if (!cause.contains(completion.status()) || !mayComeHere || causes > 0) {
                    throw new AssertionError(what + ": " + completion + ", expected FLUSHED"
                            + (causes > 0 || !mayComeHere ? "" : " or " + cause) + ", in " + completions);
                }
                causes++;
            }
        }
        return succeeded;
    }

    /** Fails unless the call is refused because the object is still in use. */
    static void expectBusy(Executable call, String what) {
        VerbsException refused = assertThrows(VerbsException.class, call, what);
        assertEquals(VerbsErrorCode.BUSY, refused.code(), what + ": " + refused.getMessage());
    }

    /** Fails unless the call throws the code. */
    static void expectCode(VerbsErrorCode code, Executable call, String what) {
        VerbsException refused = assertThrows(VerbsException.class, call, what);
        assertEquals(code, refused.code(), what + ": " + refused.getMessage());
    }
}
