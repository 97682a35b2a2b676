package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.SendOpcode;

/** READ at the requester: an untagged request on queue 1, answered by tagged segments in order. Engine thread only. */
final class Reads {
    private final StreamParts parts;
    private final SegmentCounters segments;
    private final StagTable stags;
    private final SendQueue sends;
    private final OutboundReadQueue outboundReads;
    private final FpduWriter fpdus;
    private final Placement placement;
    private final int domain;

    // The response being received.
    private long offset;
    private boolean last;

    Reads(StreamParts parts) {
        this.parts = parts;
        segments = parts.fpdus().segments();
        stags = parts.engine().stags();
        sends = parts.endpoint().sends();
        outboundReads = parts.endpoint().outboundReads();
        fpdus = parts.fpdus();
        placement = parts.placement();
        domain = parts.endpoint().domain();
    }

    // ---- the request

    /** Adds the request at the cursor. */
    Added add(long sequence, int slot) {
        if (!fpdus.hasRoom(Ddp.READ_REQUEST_END, 0, true, 0)) {
            return Added.NO_ROOM;
        }
        EntryTable entries = sends.entries();
        long length = entries.total(slot);
        long sinkAddress = 0;
        int sinkKey = 0;
        if (length > 0) {
            sinkAddress = entries.address(slot, 0);
            sinkKey = entries.lkey(slot, 0);
            if (!mayWrite(sinkKey, sinkAddress, length)) {
                return Added.NOT_ACCESSIBLE;
            }
        }
        int msn = outboundReads.add(sequence);
        long at = fpdus.begin(Ddp.READ_REQUEST_END, 0, true);
        Ddp.putReadRequest(at, msn, sinkKey, sinkAddress, (int) length, sends.rkey(slot), sends.remoteAddress(slot));
        fpdus.end(MessageKind.READ_REQUEST, sequence, 0, true, null);
        sends.cursor(sequence + 1);
        return Added.YES;
    }

    private boolean mayWrite(int key, long address, long length) {
        int row = stags.findLocal(key);
        return stags.check(row, domain, AccessRights.LOCAL_WRITE, address, length) == AccessResult.GRANTED;
    }

    /** The newest request was taken back. */
    void takeBack() {
        outboundReads.undo();
    }

    // ---- the response

    /** Bytes left of the oldest response, or 0 if none is expected. */
    long expected() {
        return outboundReads.isEmpty() ? 0 : sends.entries().total(sends.slot(outboundReads.oldest())) - offset;
    }

    boolean begin(long fpdu, int length, boolean lastSegment) {
        segments.received(MessageKind.READ_RESPONSE);
        last = lastSegment;
        if (outboundReads.isEmpty()) {
            return parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        }
        int slot = sends.slot(outboundReads.oldest());
        if (sends.opcode(slot) != SendOpcode.READ) {
            return parts.protocolError(TerminateCause.RDMAP_OPCODE, fpdu);
        }
        EntryTable entries = sends.entries();
        long total = entries.total(slot);
        if (length > total - offset) {
            return parts.protocolError(TerminateCause.DDP_BOUNDS, fpdu);
        }
        if (last != (offset + length == total)) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, fpdu);
        }
        placement.begin(length);
        return length == 0 || beginRun(fpdu, slot, length);
    }

    private boolean beginRun(long fpdu, int slot, int length) {
        EntryTable entries = sends.entries();
        long taggedOffset = NativeMemory.getLong(fpdu + Ddp.TAGGED_OFFSET_OFFSET);
        // The peer must name the sink that the request named, and write it in order.
        if (NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET) != entries.lkey(slot, 0)) {
            return parts.protocolError(TerminateCause.DDP_INVALID_STAG, fpdu);
        }
        if (taggedOffset != entries.address(slot, 0) + offset) {
            return parts.protocolError(TerminateCause.DDP_BOUNDS, fpdu);
        }
        int row = stags.findLocal(entries.lkey(slot, 0));
        if (stags.check(row, domain, AccessRights.LOCAL_WRITE, taggedOffset, length) != AccessResult.GRANTED) {
            runGone();
            return false;
        }
        placement.run(row, taggedOffset, length);
        return true;
    }

    void runGone() {
        parts.events().localProtectionError(outboundReads.oldest());
    }

    void done() {
        offset += placement.payload();
        if (last) {
            if (!placement.complete()) {
                runGone();
                return;
            }
            offset = 0;
            long sequence = outboundReads.oldest();
            outboundReads.complete();
            sends.complete(sequence);
        }
    }
}
