package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The RDMA extended transport header, behind the BTH of a READ request and of the first packet of a WRITE (IBA volume
 * 1, 9.3.3). Big endian; the requester writes every field. Offsets count from the BTH.
 *
 * <pre>
 *   31                                                              0
 *   +---------------------------------------------------------------+
 *   |  address in the responder's memory, 64 bits                   |  12
 *   |  rkey                                                         |  20
 *   |  bytes of the whole message; of a READ, those asked for       |  24
 *   +---------------------------------------------------------------+  28
 * </pre>
 */
public final class Reth {
    /** Address in the responder's memory. */
    public static final int ADDRESS_OFFSET = Bth.LENGTH;
    /** Key of the responder's memory. */
    public static final int KEY_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** Bytes of the whole message. */
    public static final int MESSAGE_LENGTH_OFFSET = KEY_OFFSET + Integer.BYTES;
    /** Bytes of the header. */
    public static final int LENGTH = MESSAGE_LENGTH_OFFSET + Integer.BYTES - Bth.LENGTH;

    private Reth() {}

    /**
     * Writes the header.
     *
     * @param packet where the BTH is
     * @param address in the responder's memory
     * @param rkey of the responder's memory
     * @param messageLength bytes of the whole message, unsigned
     */
    public static void put(long packet, long address, int rkey, int messageLength) {
        NativeMemory.putLong(packet + ADDRESS_OFFSET, address);
        NativeMemory.putInt(packet + KEY_OFFSET, rkey);
        NativeMemory.putInt(packet + MESSAGE_LENGTH_OFFSET, messageLength);
    }

    /** Address in the responder's memory. */
    public static long address(long packet) {
        return NativeMemory.getLong(packet + ADDRESS_OFFSET);
    }

    /** Key of the responder's memory. */
    public static int rkey(long packet) {
        return NativeMemory.getInt(packet + KEY_OFFSET);
    }

    /** Bytes of the whole message, 0 to 2^32 - 1. */
    public static long messageLength(long packet) {
        return Integer.toUnsignedLong(NativeMemory.getInt(packet + MESSAGE_LENGTH_OFFSET));
    }
}
