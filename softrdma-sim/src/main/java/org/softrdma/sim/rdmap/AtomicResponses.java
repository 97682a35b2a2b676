package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.Rfc7306;
import org.softrdma.sim.wire.TerminateCause;

/**
 * Atomics at the responder (RFC 7306 section 5): executed as they come, each once. The answers wait among those to READs,
 * for which the peer has as many places in all as it was granted, and keep what the word was: so whatever becomes of
 * the region and however often TCP takes an answer back, nothing is executed again. Engine thread only.
 */
final class AtomicResponses {
    private final StreamParts parts;
    private final RnicEngine engine;
    private final Counters<Counter> counters;
    private final SegmentCounters segments;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final StreamWindows windows;
    private final InboundReadQueue inboundReads;
    private final FpduWriter fpdus;
    private final int domain;

    /** Message sequence number of the next response, on queue 3. */
    private int msn = 1;

    AtomicResponses(StreamParts parts) {
        this.parts = parts;
        engine = parts.engine();
        counters = engine.counters();
        segments = parts.fpdus().segments();
        memory = engine.memory();
        stags = engine.stags();
        windows = parts.endpoint().windows();
        inboundReads = parts.endpoint().inboundReads();
        fpdus = parts.fpdus();
        domain = parts.endpoint().domain();
    }

    // ---- the request

    boolean beginRequest(long fpdu, int payload, boolean last) {
        segments.received(MessageKind.ATOMIC_REQUEST);
        if (payload != Rfc7306.REQUEST_LENGTH || !last) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, fpdu);
        }
        if (!parts.isNextRequest(fpdu)) {
            return false;
        }
        if (!inboundReads.hasRoom()) {
            return parts.protocolError(TerminateCause.DDP_NO_BUFFER, fpdu);
        }
        int operation = Rfc7306.operation(fpdu);
        if (operation != Rfc7306.FETCH_ADD && operation != Rfc7306.COMPARE_SWAP) {
            return parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        }
        long offset = NativeMemory.getLong(fpdu + Rfc7306.WORD_OFFSET_OFFSET);
        int row = stags.findRemote(NativeMemory.getInt(fpdu + Rfc7306.WORD_STAG_OFFSET));
        // The memory's own address counts, not its offset in the region. Without a region there is only the offset.
        long word = row < 0 ? offset : stags.rawAddress(row, offset);
        if ((word & (Long.BYTES - 1)) != 0) {
            return parts.protocolError(TerminateCause.RDMAP_STREAM_CATASTROPHIC, fpdu);
        }
        AccessResult result = stags.check(row, domain, AccessRights.REMOTE_ATOMIC, offset, Long.BYTES);
        if (result == AccessResult.WRONG_DOMAIN) {
            result = windows.check(row, AccessRights.REMOTE_ATOMIC, offset, Long.BYTES);
        }
        if (result != AccessResult.GRANTED) {
            return parts.accessError(AccessCauses.readRequest(result), fpdu);
        }
        engine.use(row, word, Long.BYTES);
        long original = execute(operation, fpdu, word);
        counters.increment(Counter.RESPONDER_ATOMICS);
        inboundReads.addExecuted(
                inboundReads.nextMsn(), NativeMemory.getInt(fpdu + Rfc7306.IDENTIFIER_OFFSET), original);
        return true;
    }

    private long execute(int operation, long fpdu, long word) {
        long data = NativeMemory.getLong(fpdu + Rfc7306.DATA_OFFSET);
        long mask = NativeMemory.getLong(fpdu + Rfc7306.MASK_OFFSET);
        if (operation == Rfc7306.FETCH_ADD) {
            return memory.fetchAndAdd(word, data, mask);
        }
        long expected = NativeMemory.getLong(fpdu + Rfc7306.COMPARE_OFFSET);
        long compared = NativeMemory.getLong(fpdu + Rfc7306.COMPARE_MASK_OFFSET);
        return memory.compareAndSwap(word, expected, compared, data, mask);
    }

    // ---- the response

    /** Adds the response to the request at the cursor. */
    boolean add() {
        if (!fpdus.hasRoom(Rfc7306.RESPONSE_END, 0, true, 0)) {
            return false;
        }
        long sequence = inboundReads.cursor();
        int slot = inboundReads.slot(sequence);
        long at = fpdus.begin(Rfc7306.RESPONSE_END, 0, true);
        Rfc7306.putResponse(at, msn++, inboundReads.identifier(slot), inboundReads.original(slot));
        fpdus.end(MessageKind.ATOMIC_RESPONSE, sequence, 0, true, null);
        inboundReads.cursor(sequence + 1);
        return true;
    }

    /** A response has gone to TCP. */
    void sent() {
        if (!inboundReads.isEmpty()) {
            inboundReads.complete();
        }
    }

    /** The newest response was taken back. */
    void takeBack(long sequence) {
        inboundReads.cursor(sequence);
        msn--;
    }
}
