package org.softrdma.sim.rdmap;

import java.lang.foreign.MemorySegment;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.Rfc7306;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.SendOpcode;

/**
 * Atomics at the requester (RFC 7306 section 5): an untagged request on queue 1, which counts as a READ in flight, and an
 * untagged answer on queue 3, in the order of all that is in flight. What the word was is put into the local buffer in
 * this machine's byte order. Engine thread only.
 */
final class Atomics {
    private final StreamParts parts;
    private final RnicEngine engine;
    private final SegmentCounters segments;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final SendQueue sends;
    private final EntryTable entries;
    private final OutboundReadQueue outboundReads;
    private final FpduWriter fpdus;
    private final int domain;
    private boolean used;

    // The response being received.
    private int msn = 1;
    private long original;
    /** The word in this machine's byte order, from the first response on. */
    private MemorySegment scratch = MemorySegment.NULL;

    Atomics(StreamParts parts) {
        this.parts = parts;
        engine = parts.engine();
        segments = parts.fpdus().segments();
        memory = engine.memory();
        stags = engine.stags();
        sends = parts.endpoint().sends();
        entries = sends.entries();
        outboundReads = parts.endpoint().outboundReads();
        fpdus = parts.fpdus();
        domain = parts.endpoint().domain();
    }

    // ---- the request

    /** True if this side has sent one. */
    boolean isUsed() {
        return used;
    }

    /** Adds the request at the cursor. */
    Added add(long sequence, int slot) {
        if (!fpdus.hasRoom(Rfc7306.REQUEST_END, 0, true, 0)) {
            return Added.NO_ROOM;
        }
        if (findSink(slot) < 0) {
            return Added.NOT_ACCESSIBLE;
        }
        used = true;
        int requestMsn = outboundReads.add(sequence);
        long at = fpdus.begin(Rfc7306.REQUEST_END, 0, true);
        int rkey = sends.rkey(slot);
        long word = sends.remoteAddress(slot);
        if (sends.opcode(slot) == SendOpcode.FETCH_AND_ADD) {
            Rfc7306.putFetchAdd(at, requestMsn, requestMsn, rkey, word, sends.compareAdd(slot));
        } else {
            Rfc7306.putCompareSwap(at, requestMsn, requestMsn, rkey, word, sends.compareAdd(slot), sends.swap(slot));
        }
        fpdus.end(MessageKind.ATOMIC_REQUEST, sequence, 0, true, null);
        sends.cursor(sequence + 1);
        return Added.YES;
    }

    /** Row of the local buffer, or -1 if it may not be written. */
    private int findSink(int slot) {
        int row = stags.findLocal(entries.lkey(slot, 0));
        AccessResult result = stags.check(row, domain, AccessRights.LOCAL_WRITE, entries.address(slot, 0), Long.BYTES);
        return result == AccessResult.GRANTED ? row : -1;
    }

    /** The newest request was taken back. */
    void takeBack() {
        outboundReads.undo();
    }

    // ---- the response

    boolean begin(long fpdu, int length, boolean last) {
        segments.received(MessageKind.ATOMIC_RESPONSE);
        if (length != Rfc7306.RESPONSE_LENGTH || !last) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, fpdu);
        }
        if (outboundReads.isEmpty()
                || !sends.opcode(sends.slot(outboundReads.oldest())).isAtomic()) {
            return parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        }
        if (NativeMemory.getInt(fpdu + Ddp.MSN_OFFSET) != msn) {
            return parts.protocolError(TerminateCause.DDP_MSN_RANGE, fpdu);
        }
        if (NativeMemory.getInt(fpdu + Ddp.MESSAGE_OFFSET_OFFSET) != 0) {
            return parts.protocolError(TerminateCause.DDP_MESSAGE_OFFSET, fpdu);
        }
        if (NativeMemory.getInt(fpdu + Rfc7306.RESPONSE_IDENTIFIER_OFFSET) != outboundReads.oldestMsn()) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, fpdu);
        }
        original = NativeMemory.getLong(fpdu + Rfc7306.ORIGINAL_OFFSET);
        return true;
    }

    void done() {
        long sequence = outboundReads.oldest();
        int slot = sends.slot(sequence);
        int row = findSink(slot);
        if (row < 0) {
            parts.events().localProtectionError(sequence);
            return;
        }
        place(row, stags.rawAddress(row, entries.address(slot, 0)));
        msn++;
        outboundReads.complete();
        sends.complete(sequence);
    }

    private void place(int row, long sink) {
        if (scratch.byteSize() == 0) {
            scratch = memory.allocate(Long.BYTES, Long.BYTES);
        }
        NativeMemory.putNativeLong(scratch.address(), original);
        engine.use(row, sink, Long.BYTES);
        if (stags.isPolled(row)) {
            memory.publish(scratch.address(), sink, Long.BYTES);
        } else {
            memory.copy(scratch.address(), sink, Long.BYTES);
        }
    }
}
