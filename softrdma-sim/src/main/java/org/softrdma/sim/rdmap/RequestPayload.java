package org.softrdma.sim.rdmap;

import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.SendFlags;

/**
 * The payload of the request at the cursor of the send queue, a segment at a time: {@link #prepare} finds what is next and whether it
 * may be read, {@link #begin} gives room for a header, {@link #end} adds the payload and moves on. Engine thread only.
 */
final class RequestPayload {
    private final RnicEngine engine;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final FpduWriter fpdus;
    private final SendQueue sends;
    private final EntryTable entries;
    private final int domain;
    /** The row of each entry under the segment. */
    private final int[] rows;

    /** Bytes of the message in segments before. */
    private long offset;

    // The segment that was prepared.
    private int slot;
    private int length;
    private boolean inline;
    private boolean staged;
    private boolean last;
    private long payloadAt;

    RequestPayload(StreamParts parts) {
        engine = parts.engine();
        memory = engine.memory();
        stags = engine.stags();
        fpdus = parts.fpdus();
        sends = parts.endpoint().sends();
        entries = sends.entries();
        domain = parts.endpoint().domain();
        rows = new int[parts.endpoint().sendEntries()];
    }

    /** True if a message has begun and has more segments. */
    boolean isMidMessage() {
        return offset > 0;
    }

    /** Goes to an offset of the message at the cursor; 0 is its beginning. */
    void offset(long newOffset) {
        offset = newOffset;
    }

    /** Bytes of the message before the segment. */
    long offset() {
        return offset;
    }

    /** Bytes of payload of the segment. */
    int length() {
        return length;
    }

    /** True if it is the last segment of the message. */
    boolean isLast() {
        return last;
    }

    /**
     * Prepares the next segment.
     *
     * @param requestSlot of the request at the cursor
     * @param header bytes before the payload
     */
    Added prepare(int requestSlot, int header) {
        slot = requestSlot;
        long total = entries.total(slot);
        length = (int) Math.min(total - offset, fpdus.maxPayload());
        inline = sends.hasFlag(slot, SendFlags.INLINE);
        staged = inline || fpdus.stages(length);
        last = offset + length == total;
        if (!fpdus.hasRoom(header, length, staged, entries.count(slot))) {
            return Added.NO_ROOM;
        }
        return inline || findReadable() ? Added.YES : Added.NOT_ACCESSIBLE;
    }

    /** Begins the FPDU; returns the address for its header. */
    long begin(int header) {
        long at = fpdus.begin(header, length, staged);
        payloadAt = at + header;
        return at;
    }

    /** Adds the payload, ends the FPDU and moves on. */
    void end(MessageKind kind, long sequence) {
        if (inline) {
            NativeMemory.copy(sends.inlineAddress(slot) + offset, payloadAt, length);
        } else {
            addPieces();
        }
        fpdus.end(kind, sequence, offset, last, null);
        if (last) {
            offset = 0;
            sends.cursor(sequence + 1);
        } else {
            offset += length;
        }
    }

    /** Finds the rows of the local entries under the segment; false if one of them may not be read. */
    private boolean findReadable() {
        long skip = offset;
        long left = length;
        for (int i = 0; left > 0; i++) {
            long here = Math.min(left, entries.length(slot, i) - skip);
            if (here > 0) {
                int row = stags.findLocal(entries.lkey(slot, i));
                if (stags.check(row, domain, AccessRights.NONE, entries.address(slot, i) + skip, here)
                        != AccessResult.GRANTED) {
                    return false;
                }
                rows[i] = row;
                left -= here;
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
        return true;
    }

    /** Copies or gathers what {@link #findReadable} has found in this batch. */
    private void addPieces() {
        long skip = offset;
        long left = length;
        long to = payloadAt;
        for (int i = 0; left > 0; i++) {
            long here = Math.min(left, entries.length(slot, i) - skip);
            if (here > 0) {
                int row = rows[i];
                long address = entries.address(slot, i) + skip;
                if (staged) {
                    long source = stags.rawAddress(row, address);
                    engine.use(row, source, here);
                    memory.copy(source, to, here);
                    to += here;
                } else {
                    Binding binding = stags.binding(row);
                    long source = binding.address() + stags.offset(row, address);
                    engine.use(binding, source, here);
                    fpdus.gather(source, here, binding);
                }
                left -= here;
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
    }
}
