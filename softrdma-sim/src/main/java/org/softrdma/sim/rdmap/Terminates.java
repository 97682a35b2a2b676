package org.softrdma.sim.rdmap;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;

/** Terminate: one untagged message on queue 2, the last of its stream. Engine thread only. */
final class Terminates {
    private final StreamParts parts;
    private final SegmentCounters segments;
    private final MemoryOperations memory;
    private final FpduWriter fpdus;
    private final SendQueue sends;
    private final OutboundReadQueue outboundReads;
    private final Atomics atomics;
    private final Immediates immediates;

    private @Nullable MemorySegment message;
    private int ulpdu;
    private boolean staged;

    Terminates(StreamParts parts, Atomics atomics, Immediates immediates) {
        this.parts = parts;
        this.atomics = atomics;
        this.immediates = immediates;
        sends = parts.endpoint().sends();
        outboundReads = parts.endpoint().outboundReads();
        segments = parts.fpdus().segments();
        memory = parts.engine().memory();
        fpdus = parts.fpdus();
    }

    /** True if this side ends the stream with a Terminate. */
    boolean isQueued() {
        return message != null;
    }

    /** True while it waits for its turn. */
    boolean isWaiting() {
        return message != null && !staged;
    }

    /** True once it is in a batch, until it is taken back. */
    boolean isStaged() {
        return staged;
    }

    /** Queues the message; only the first one counts. */
    void queue(TerminateCause cause, long segment) {
        MemorySegment made = memory.allocate(Terminate.MAX_FPDU, Long.BYTES);
        message = made;
        ulpdu = Terminate.put(made.address(), cause, segment);
    }

    /** Adds the message to the batch. */
    boolean add() {
        MemorySegment queued = message;
        int length = Short.BYTES + ulpdu;
        if (queued == null || staged || !fpdus.hasRoom(length, 0, true, 0)) {
            return false;
        }
        NativeMemory.copy(queued.address(), fpdus.begin(length, 0, true), length);
        fpdus.end(MessageKind.TERMINATE, 0, 0, true, null);
        staged = true;
        return true;
    }

    void takeBack() {
        staged = false;
    }

    /** The peer's Terminate has arrived. */
    boolean begin(long fpdu) {
        int length = Ddp.ulpduLength(fpdu);
        segments.received(MessageKind.TERMINATE);
        int code;
        int requestMsn;
        if (length < Terminate.MIN_ULPDU) {
            code = TerminateCause.RDMAP_UNSPECIFIED.code();
            requestMsn = 0;
        } else {
            code = understood(Terminate.code(fpdu));
            requestMsn = Terminate.requestMsn(fpdu, length);
        }
        long culprit = culprit(code, requestMsn);
        CompletionStatus status =
                culprit < 0 ? CompletionStatus.FLUSHED : AccessCauses.status(code, sends.opcode(sends.slot(culprit)));
        parts.events().terminated(code, meaning(code), culprit, status);
        return false;
    }

    /**
     * Linux's siw writes layer and type the wrong way round. That is recognised where the code means nothing else: where no
     * Terminate has it, and where it names a failure of the handshake on a stream that has used RFC 7306.
     */
    private int understood(int code) {
        int swapped = Terminate.withLayerAndTypeSwapped(code);
        boolean otherwiseUnknown = TerminateCause.ofCode(code) == null && TerminateCause.ofCode(swapped) != null;
        return otherwiseUnknown || (isOpcode(swapped) && usesRfc7306()) ? swapped : code;
    }

    private boolean usesRfc7306() {
        return atomics.isUsed() || immediates.isUsed();
    }

    /**
     * Sequence of the request that a Terminate is about, or -1. A peer that does not know an opcode need not show the
     * segment, and Linux's siw does not: then it is the oldest request that a peer without RFC 7306 does not know.
     */
    private long culprit(int code, int requestMsn) {
        if (requestMsn != 0) {
            return outboundReads.ofMsn(requestMsn);
        }
        return isOpcode(code)
                ? outboundReads.oldest(
                        sequence -> sends.opcode(sends.slot(sequence)).isAtomic())
                : -1;
    }

    private String meaning(int code) {
        String meaning = Terminate.describe(code);
        if (!isOpcode(code) || !usesRfc7306()) {
            return meaning;
        }
        String sent = !immediates.isUsed()
                ? "atomics"
                : !atomics.isUsed() ? "WRITEs with immediate" : "atomics and WRITEs with immediate";
        return meaning + "; this side has sent " + sent
                + " (RFC 7306), which a peer need not know: agree with it on their use before";
    }

    private static boolean isOpcode(int code) {
        return code == TerminateCause.RDMAP_OPCODE.code();
    }
}
