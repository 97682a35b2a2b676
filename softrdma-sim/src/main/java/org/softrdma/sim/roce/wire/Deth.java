package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The datagram extended transport header, behind the BTH of every UD packet (IBA volume 1, 9.3.1). Big endian; the
 * sender writes every field. Offsets count from the BTH.
 *
 * <pre>
 *   31            24 23                                             0
 *   +---------------------------------------------------------------+
 *   |  queue key                                                    |  12
 *   +---------------+-----------------------------------------------+
 *   |  reserved     |  the sender's queue pair                      |  16
 *   +---------------+-----------------------------------------------+  20
 * </pre>
 */
public final class Deth {
    /** Queue key, which must be that of the receiver's queue pair. */
    public static final int QUEUE_KEY_OFFSET = Bth.LENGTH;
    /** The word that ends with the number of the sender's queue pair. */
    public static final int SOURCE_OFFSET = QUEUE_KEY_OFFSET + Integer.BYTES;
    /** Bytes of the header. */
    public static final int LENGTH = SOURCE_OFFSET + Integer.BYTES - Bth.LENGTH;

    private Deth() {}

    /**
     * Writes the header.
     *
     * @param packet where the BTH is
     * @param queueKey of the receiver's queue pair
     * @param source number of the sender's queue pair, 24 bits
     */
    public static void put(long packet, int queueKey, int source) {
        NativeMemory.putInt(packet + QUEUE_KEY_OFFSET, queueKey);
        NativeMemory.putInt(packet + SOURCE_OFFSET, source);
    }

    /** The queue key. */
    public static int queueKey(long packet) {
        return NativeMemory.getInt(packet + QUEUE_KEY_OFFSET);
    }

    /** Number of the sender's queue pair. */
    public static int source(long packet) {
        return NativeMemory.getInt(packet + SOURCE_OFFSET) & Psn.MASK;
    }
}
