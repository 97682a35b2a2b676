package org.softrdma.sim.carrier;

import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;

/**
 * Puts segments into a batch as FPDUs. An FPDU is staged completely if its payload is short or needs a CRC. Otherwise
 * only header, pad and CRC field are staged, and the payload is gathered from where it is. {@link #begin} returns room
 * for the header and whatever else is staged, the caller fills in header and payload, and {@link #end} closes the FPDU.
 * Engine thread only.
 */
public final class FpduWriter {
    private final StreamBuffers buffers;
    private final boolean crc;
    private final int maxPayload;
    private final int copyBelow;

    // The open FPDU.
    private long at;
    private int ulpdu;
    private boolean staged;

    /**
     * Makes a writer for the batches of an engine.
     *
     * @param buffers of the engine
     * @param maxPayload most payload bytes of a segment
     * @param copyBelow payloads below this are copied behind their header
     * @param crc FPDUs have a CRC
     */
    public FpduWriter(StreamBuffers buffers, int maxPayload, int copyBelow, boolean crc) {
        this.buffers = buffers;
        this.crc = crc;
        this.maxPayload = maxPayload;
        this.copyBelow = copyBelow;
    }

    /** Maximum payload of a segment in bytes. */
    public int maxPayload() {
        return maxPayload;
    }

    /** True if a payload of this length is copied behind its header. */
    public boolean stages(int payload) {
        return crc || payload < copyBelow;
    }

    /**
     * True if an FPDU fits into the batch.
     *
     * @param header bytes before its payload
     * @param payload bytes of its payload
     * @param whole all of it is staged
     * @param pieces pieces of payload that are gathered
     */
    public boolean hasRoom(int header, int payload, boolean whole, int pieces) {
        int fpdu = Ddp.fpduLength(header - Short.BYTES + payload);
        return buffers.batch().hasRoom(whole ? fpdu : fpdu - payload, pieces);
    }

    /**
     * Opens an FPDU for which there is room.
     *
     * @param header bytes before its payload
     * @param payload bytes of its payload
     * @param whole all of it is staged: the caller puts the payload behind the header; else the payload is gathered
     * @return address for the header
     */
    public long begin(int header, int payload, boolean whole) {
        ulpdu = header - Short.BYTES + payload;
        staged = whole;
        at = buffers.batch().stage(whole ? Ddp.fpduLength(ulpdu) : header);
        return at;
    }

    /** Gathers payload from where it is. */
    public void gather(long address, long length, Binding binding) {
        buffers.batch().gather(address, length, binding);
    }

    /**
     * Gathers payload from where it is. Its binding is looked up in a row of the stag table only if it must be kept.
     */
    public void gather(long address, long length, int row) {
        buffers.batch().gather(address, length, row);
    }

    /**
     * Closes the FPDU: pad, CRC field.
     *
     * @param kind of its message
     * @param sequence of its request
     * @param offset bytes of its message before it
     * @param last last segment of its message
     * @param message what a message of several segments is read from
     */
    public void end(MessageKind kind, long sequence, long offset, boolean last, @Nullable Binding message) {
        if (staged) {
            finish();
        } else {
            buffers.batch().stageZeros(Ddp.trailerLength(ulpdu));
        }
        buffers.batch().endSegment(kind, sequence, offset, last, message);
    }

    /** Counts the segments of all streams. */
    public SegmentCounters segments() {
        return buffers.segments();
    }

    /** True if nothing is in the batch. */
    public boolean isBatchEmpty() {
        return buffers.batch().isEmpty();
    }

    private void finish() {
        long end = at + Ddp.fpduLength(ulpdu);
        for (long pad = at + Short.BYTES + ulpdu; pad < end - Ddp.CRC_LENGTH; pad++) {
            NativeMemory.putByte(pad, 0);
        }
        if (crc) {
            buffers.crc().put(buffers.batch().stagingView(), buffers.batch().stagingAddress(), at, ulpdu);
        } else {
            NativeMemory.putInt(end - Ddp.CRC_LENGTH, 0);
        }
    }
}
