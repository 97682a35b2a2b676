package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.SendFlags;

/**
 * The payload of the request at the cursor of the send queue, a segment at a time: {@link #prepare} finds the next part
 * and checks whether it may be read, {@link #begin} returns room for a header, {@link #end} adds the payload and moves
 * on. Engine thread only.
 */
final class RequestPayload {
    /** An offset: the message is complete, and one more of the same request follows. */
    static final long BEHIND = -1;

    private final RnicEngine engine;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final FpduWriter fpdus;
    private final SendQueue sends;
    private final EntryTable entries;
    private final int domain;
    /** Row of each entry that the segment covers. */
    private final int[] rows;

    /** Bytes of the message in earlier segments, or {@link #BEHIND}. */
    private long offset;

    // The prepared segment.
    private int slot;
    private int length;
    private boolean inline;
    private boolean staged;
    /** Some of it is moved by whole words. */
    private boolean polled;

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

    /** True if a request has begun and has more segments. */
    boolean isMidRequest() {
        return offset != 0;
    }

    /** Goes to an offset of the message at the cursor; 0 is its beginning. */
    void offset(long newOffset) {
        offset = newOffset;
    }

    /** Offset of the prepared segment in its message. */
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
        last = offset + length == total;
        inline = sends.hasFlag(slot, SendFlags.INLINE);
        polled = false;
        if (!inline && !findReadable()) {
            return Added.NOT_ACCESSIBLE;
        }
        staged = inline || polled || fpdus.stages(length);
        return fpdus.hasRoom(header, length, staged, entries.count(slot)) ? Added.YES : Added.NO_ROOM;
    }

    /** Begins the FPDU; returns the address for its header. */
    long begin(int header) {
        long at = fpdus.begin(header, length, staged);
        payloadAt = at + header;
        return at;
    }

    /** Adds the payload, ends the FPDU and moves on. */
    void end(MessageKind kind, long sequence) {
        addPayload();
        fpdus.end(kind, sequence, offset, last, null);
        if (last) {
            offset = 0;
            sends.cursor(sequence + 1);
        } else {
            offset += length;
        }
    }

    /** As {@link #end}, of a message that is not the last one of its request. */
    void endFirst(MessageKind kind, long sequence) {
        addPayload();
        fpdus.end(kind, sequence, offset, false, null);
        offset = last ? BEHIND : offset + length;
    }

    private void addPayload() {
        if (inline) {
            NativeMemory.copy(sends.inlineAddress(slot) + offset, payloadAt, length);
        } else {
            addPieces();
        }
    }

    /** Finds the rows of the local entries that the segment covers; false if one of them may not be read. */
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
                if (stags.isPolled(row)) {
                    polled = true;
                    if (left == 0 && skip + here < entries.length(slot, i)) {
                        endWithWord(row, entries.address(slot, i) + skip, here);
                    }
                }
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
        return true;
    }

    /** The segment ends within an entry, and the next one is read later: leaves it the word that would be in both. */
    private void endWithWord(int row, long address, long here) {
        length -= (int) Math.min(here, (stags.rawAddress(row, address) + here) & (Long.BYTES - 1));
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
                    if (polled) {
                        memory.copyFromPolled(source, to, here);
                    } else {
                        memory.copy(source, to, here);
                    }
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
