package org.softrdma.sim.fabric.network;

import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.sim.wire.RdmapOpcode;

/**
 * Finds messages in the bytes of one direction of an iWARP stream: a frame of the handshake, then FPDUs. What is no such stream gives
 * nonsense, and no failure. Whoever holds the baton.
 */
final class MessageScanner {
    private static final int PRIVATE_DATA_LENGTH_OFFSET = MpaFrame.HEADER_LENGTH - Short.BYTES;
    private static final int FPDU_HEADER = Ddp.CONTROL_OFFSET + Short.BYTES;
    private static final int BYTE = 0xFF;

    /** Told of each message. */
    interface Listener {
        /** The header of its first segment has gone. */
        void begun(MessageKind kind);
    }

    private final Listener listener;
    private final int[] header = new int[MpaFrame.HEADER_LENGTH];
    private int have;
    private int skip;
    private boolean streaming;
    private boolean betweenMessages = true;

    MessageScanner(Listener listener) {
        this.listener = listener;
    }

    /** The next bytes. */
    void scan(long address, int length) {
        for (int at = 0; at < length; ) {
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
    }

    private void headerGrown() {
        if (!streaming && have == MpaFrame.HEADER_LENGTH) {
            skip = word(PRIVATE_DATA_LENGTH_OFFSET);
            streaming = true;
            have = 0;
        } else if (streaming && have == FPDU_HEADER) {
            skip = Ddp.fpduLength(word(Ddp.LENGTH_OFFSET)) - FPDU_HEADER;
            have = 0;
            segment(word(Ddp.CONTROL_OFFSET));
        }
    }

    private int word(int offset) {
        return header[offset] << Byte.SIZE | header[offset + 1];
    }

    private void segment(int control) {
        if (betweenMessages) {
            listener.begun(kind(control & Ddp.OPCODE_MASK));
        }
        betweenMessages = (control & Ddp.LAST) != 0;
    }

    private static MessageKind kind(int opcode) {
        return switch (opcode) {
            case RdmapOpcode.WRITE -> MessageKind.WRITE;
            case RdmapOpcode.READ_REQUEST -> MessageKind.READ_REQUEST;
            case RdmapOpcode.READ_RESPONSE -> MessageKind.READ_RESPONSE;
            case RdmapOpcode.TERMINATE -> MessageKind.TERMINATE;
            default -> MessageKind.SEND;
        };
    }
}
