package org.softrdma.sim.rdmap;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.engine.EngineCounters;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;

/** Terminate: one untagged message on queue 2, the last of its stream. Engine thread only. */
final class Terminates {
    private final StreamParts parts;
    private final EngineCounters counters;
    private final MemoryOperations memory;
    private final FpduWriter fpdus;

    private @Nullable MemorySegment message;
    private int ulpdu;
    private boolean staged;

    Terminates(StreamParts parts) {
        this.parts = parts;
        counters = parts.engine().counters();
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
        counters.received(MessageKind.TERMINATE);
        int code;
        int requestMsn;
        if (length < Terminate.MIN_ULPDU) {
            code = TerminateCause.RDMAP_UNSPECIFIED.code();
            requestMsn = 0;
        } else {
            code = Terminate.code(fpdu);
            requestMsn = Terminate.requestMsn(fpdu, length);
        }
        long culprit = requestMsn == 0 ? -1 : parts.endpoint().outboundReads().ofMsn(requestMsn);
        parts.events().terminated(code, culprit, AccessCauses.status(code));
        return false;
    }
}
