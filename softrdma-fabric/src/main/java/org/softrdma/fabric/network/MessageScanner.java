package org.softrdma.fabric.network;

import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.sim.wire.RdmapOpcode;

/**
 * Finds messages in the bytes of one direction of an iWARP stream: a frame of the handshake, then FPDUs. What is no
 * such stream gives nonsense, and no failure.
 */
final class MessageScanner {
    private static final int PRIVATE_DATA_LENGTH_OFFSET = MpaFrame.HEADER_LENGTH - Short.BYTES;
    private static final int FPDU_HEADER = Ddp.TAGGED_OFFSET_OFFSET;
    private static final int BYTE = 0xFF;

    private final int[] header = new int[MpaFrame.HEADER_LENGTH];
    private int have;
    private int skip;
    private boolean streaming;
    private boolean betweenMessages = true;
    private @Nullable MessageKind begun;

    /** True behind the first frame of the handshake. */
    boolean isStreaming() {
        return streaming;
    }

    /**
     * The message that begins by the bytes of the last {@link #scan}: they end behind the first bytes of its header.
     */
    @Nullable
    MessageKind begun() {
        return begun;
    }

    /** Looks at the next bytes up to a message that begins; returns how many. */
    int scan(long address, int length) {
        begun = null;
        int at = 0;
        while (at < length && begun == null) {
            if (skip > 0) {
                int here = Math.min(skip, length - at);
                skip -= here;
                at += here;
            } else {
                header[have++] = NativeMemory.bytes(address + at, 1)[0] & BYTE;
                at++;
                headerGrown();
            }
        }
        return at;
    }

    private void headerGrown() {
        if (!streaming && have == MpaFrame.HEADER_LENGTH) {
            skip = word(PRIVATE_DATA_LENGTH_OFFSET);
            streaming = true;
            have = 0;
        } else if (streaming && have == FPDU_HEADER) {
            skip = Ddp.fpduLength(word(Ddp.LENGTH_OFFSET)) - FPDU_HEADER;
            have = 0;
            segment(word(Ddp.CONTROL_OFFSET), word(Ddp.STAG_OFFSET) == 0 && word(Ddp.STAG_OFFSET + Short.BYTES) == 0);
        }
    }

    private int word(int offset) {
        return header[offset] << Byte.SIZE | header[offset + 1];
    }

    private void segment(int control, boolean noStag) {
        if (betweenMessages) {
            begun = kind(control & Ddp.OPCODE_MASK, noStag);
        }
        betweenMessages = (control & Ddp.LAST) != 0;
    }

    /**
     * The soft RNIC's ready-to-receive is a WRITE to STag 0, which no region has. An application's WRITE of no bytes by
     * the key 0 looks like one.
     */
    private static MessageKind kind(int opcode, boolean noStag) {
        if (opcode >= RdmapOpcode.COUNT) {
            return MessageKind.SEND; // not known to anybody: the receiver refuses it
        }
        return opcode == RdmapOpcode.WRITE && noStag ? MessageKind.READY_TO_RECEIVE : MessageKind.of(opcode);
    }
}
