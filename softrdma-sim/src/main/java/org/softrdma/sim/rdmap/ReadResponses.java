package org.softrdma.sim.rdmap;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.SegmentCounters;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.RdmapOpcode;
import org.softrdma.sim.wire.TerminateCause;

/**
 * READ at the responder: the peer's requests are queued as they arrive, and answered in order by tagged segments into
 * the peer's sink. Engine thread only.
 */
final class ReadResponses {
    private final StreamParts parts;
    private final RnicEngine engine;
    private final Counters<Counter> counters;
    private final SegmentCounters segments;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final InboundReadQueue inboundReads;
    private final FpduWriter fpdus;
    private final int domain;
    private final StreamWindows windows;

    // The response being sent.
    private long offset;
    private @Nullable Binding binding;
    /** Row where {@link #source} found a response of one segment, which needs no binding unless it is sent in part. */
    private int row;
    /** What {@link #source} found is moved by whole words. */
    private boolean polled;
    /** Why {@link #source} has found nothing. */
    private AccessResult refusal = AccessResult.GRANTED;

    ReadResponses(StreamParts parts) {
        this.parts = parts;
        engine = parts.engine();
        counters = engine.counters();
        segments = parts.fpdus().segments();
        memory = engine.memory();
        stags = engine.stags();
        inboundReads = parts.endpoint().inboundReads();
        fpdus = parts.fpdus();
        domain = parts.endpoint().domain();
        windows = parts.endpoint().windows();
    }

    // ---- the request

    boolean beginRequest(long fpdu, int payload, boolean last) {
        segments.received(MessageKind.READ_REQUEST);
        if (payload != Ddp.READ_REQUEST_LENGTH || !last) {
            return parts.protocolError(TerminateCause.RDMAP_UNSPECIFIED, fpdu);
        }
        if (!parts.isNextRequest(fpdu)) {
            return false;
        }
        long length = Integer.toUnsignedLong(NativeMemory.getInt(fpdu + Ddp.READ_LENGTH_OFFSET));
        int sourceStag = NativeMemory.getInt(fpdu + Ddp.READ_SOURCE_STAG_OFFSET);
        long sourceOffset = NativeMemory.getLong(fpdu + Ddp.READ_SOURCE_OFFSET_OFFSET);
        int granted = -1;
        if (length > 0) {
            granted = stags.findRemote(sourceStag);
            AccessResult result = check(granted, sourceOffset, length);
            if (result != AccessResult.GRANTED) {
                return parts.accessError(AccessCauses.readRequest(result), fpdu);
            }
        }
        int sinkStag = NativeMemory.getInt(fpdu + Ddp.READ_SINK_STAG_OFFSET);
        long sinkOffset = NativeMemory.getLong(fpdu + Ddp.READ_SINK_OFFSET_OFFSET);
        long batch = engine.epoch().current();
        return inboundReads.add(
                        MessageKind.READ_RESPONSE,
                        inboundReads.nextMsn(),
                        sinkStag,
                        sinkOffset,
                        length,
                        sourceStag,
                        sourceOffset,
                        granted,
                        batch)
                || parts.protocolError(TerminateCause.DDP_NO_BUFFER, fpdu);
    }

    private AccessResult check(int found, long address, long length) {
        AccessResult result = stags.check(found, domain, AccessRights.REMOTE_READ, address, length);
        return result == AccessResult.WRONG_DOMAIN
                ? windows.check(found, AccessRights.REMOTE_READ, address, length)
                : result;
    }

    // ---- the response

    /** True if a response has begun and has more segments. */
    boolean isMidMessage() {
        return offset > 0;
    }

    /** Forgets the progress of the response. */
    void forget() {
        offset = 0;
        binding = null;
    }

    /** Adds the next segment of the response to the request at the cursor. */
    boolean add() {
        long sequence = inboundReads.cursor();
        int slot = inboundReads.slot(sequence);
        long length = inboundReads.length(slot);
        long source = 0;
        polled = false;
        if (length > 0) {
            source = source(slot, length);
            if (source == 0) {
                // The batch is sent first: refusing flushes requests, and their buffers are not read after
                // that.
                return fpdus.isBatchEmpty() && refuse();
            }
        }
        int payload = (int) Math.min(length - offset, fpdus.maxPayload());
        boolean last = offset + payload == length;
        if (polled && !last) {
            payload -= (int) ((source + payload) & (Long.BYTES - 1)); // the next segment is read later: no word in both
        }
        boolean staged = polled || fpdus.stages(payload);
        if (!fpdus.hasRoom(Ddp.TAGGED_HEADER_LENGTH, payload, staged, 1)) {
            return false;
        }
        long at = fpdus.begin(Ddp.TAGGED_HEADER_LENGTH, payload, staged);
        long sink = inboundReads.sinkOffset(slot) + offset;
        Ddp.putTagged(at, RdmapOpcode.READ_RESPONSE, last, inboundReads.sinkStag(slot), sink, payload);
        if (payload > 0) {
            addPayload(source, payload, at + Ddp.TAGGED_HEADER_LENGTH, staged);
        }
        fpdus.end(MessageKind.READ_RESPONSE, sequence, offset, last, binding);
        if (last) {
            forget();
            inboundReads.cursor(sequence + 1);
        } else {
            offset += payload;
        }
        return true;
    }

    /** Copies the payload behind its header, or gathers it. */
    private void addPayload(long source, int payload, long behindHeader, boolean staged) {
        Binding begun = binding;
        if (begun != null) {
            engine.use(begun, source, payload);
        } else {
            engine.use(row, source, payload);
        }
        if (polled) {
            memory.copyFromPolled(source, behindHeader, payload);
        } else if (staged) {
            memory.copy(source, behindHeader, payload);
        } else if (begun != null) {
            fpdus.gather(source, payload, begun);
        } else {
            fpdus.gather(source, payload, row);
        }
    }

    /**
     * Address from which the next part of a response is read, or 0 if it may not be read (any more).
     *
     * <p>A response of one segment needs only its row in the stag table. A longer one keeps the binding it began with,
     * so that all of it is read from the same memory even if the region is swapped.
     */
    private long source(int slot, long length) {
        Binding begun = binding;
        if (offset > 0) {
            refusal = AccessResult.INVALID_STAG;
            if (begun == null || !begun.isAlive()) {
                return 0;
            }
            polled = begun.isPolled();
            return begun.address() + inboundReads.memoryOffset(slot) + offset;
        }
        long address = inboundReads.sourceOffset(slot);
        int found = inboundReads.rowGranted(slot, engine.epoch().current());
        if (found < 0) {
            found = stags.findRemote(inboundReads.sourceStag(slot));
            refusal = check(found, address, length);
            if (refusal != AccessResult.GRANTED) {
                return 0;
            }
        }
        polled = stags.isPolled(found);
        if (length <= fpdus.maxPayload()) {
            row = found;
            binding = null;
            return stags.rawAddress(found, address);
        }
        begun = stags.binding(found);
        binding = begun;
        inboundReads.memoryOffset(slot, stags.offset(found, address));
        return begun.address() + inboundReads.memoryOffset(slot);
    }

    /**
     * The request at the cursor cannot be answered (any more): terminates the stream, if it has not ended. Always true.
     */
    private boolean refuse() {
        long sent = offset;
        forget();
        int slot = inboundReads.slot(inboundReads.cursor());
        parts.events().accessRefused();
        MemorySegment request = memory.allocate(Ddp.READ_REQUEST_END, Long.BYTES);
        try {
            // RFC 5040 section 4.8: the READ request is updated to the progress of the operation.
            Ddp.putReadRequest(
                    request.address(),
                    inboundReads.msn(slot),
                    inboundReads.sinkStag(slot),
                    inboundReads.sinkOffset(slot) + sent,
                    (int) (inboundReads.length(slot) - sent),
                    inboundReads.sourceStag(slot),
                    inboundReads.sourceOffset(slot) + sent);
            inboundReads.truncate();
            if (parts.events().isReceiving()) {
                parts.events().terminate(AccessCauses.readRequest(refusal), request.address());
            }
        } finally {
            Reference.reachabilityFence(request);
        }
        return true;
    }

    /** A segment has gone to TCP. */
    void sent(long sequence, boolean last) {
        if (last && !inboundReads.isEmpty()) {
            counters.increment(Counter.RESPONDER_READS);
            counters.add(Counter.RESPONDER_READ_BYTES, inboundReads.length(inboundReads.slot(sequence)));
            inboundReads.complete();
        }
    }

    /** A segment was taken back. */
    void takeBack(long sequence, long segmentOffset, @Nullable Binding message) {
        inboundReads.cursor(sequence);
        offset = segmentOffset;
        binding = segmentOffset > 0 ? message : null;
    }
}
