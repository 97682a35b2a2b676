package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The headers of atomics behind the BTH: the request, and the word that the answer carries behind its {@link Aeth} (IBA
 * volume 1, 9.3.4 and 9.3.5). Big endian; the requester writes the request, the responder the answer. Offsets count
 * from the BTH.
 *
 * <pre>
 *   31                                                              0
 *   +---------------------------------------------------------------+
 *   |  address of the word, 64 bits, a multiple of 8                |  12
 *   |  rkey                                                         |  20
 *   |  what is swapped in or added, 64 bits                         |  24
 *   |  what the word is compared with, 64 bits; FETCH_ADD: 0        |  32
 *   +---------------------------------------------------------------+  40
 *
 *   +---------------------------------------------------------------+
 *   |  what the word was, 64 bits                                   |  16
 *   +---------------------------------------------------------------+  24
 * </pre>
 */
public final class AtomicEth {
    /** Request: address of the word. */
    public static final int ADDRESS_OFFSET = Bth.LENGTH;
    /** Request: key of the word's memory. */
    public static final int KEY_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** Request: what is swapped in or added. */
    public static final int OPERAND_OFFSET = KEY_OFFSET + Integer.BYTES;
    /** Request: what the word is compared with. */
    public static final int COMPARE_OFFSET = OPERAND_OFFSET + Long.BYTES;
    /** Bytes of the request's header. */
    public static final int LENGTH = COMPARE_OFFSET + Long.BYTES - Bth.LENGTH;

    /** Answer: what the word was. */
    public static final int ORIGINAL_OFFSET = Aeth.SYNDROME_OFFSET + Aeth.LENGTH;
    /** Bytes of the answer's header. */
    public static final int ANSWER_LENGTH = Long.BYTES;

    private AtomicEth() {}

    /**
     * Writes the request's header.
     *
     * @param packet where the BTH is
     * @param address of the word
     * @param rkey of the word's memory
     * @param operand what is swapped in or added
     * @param compare what the word is compared with; 0 for FETCH_ADD
     */
    public static void put(long packet, long address, int rkey, long operand, long compare) {
        NativeMemory.putLong(packet + ADDRESS_OFFSET, address);
        NativeMemory.putInt(packet + KEY_OFFSET, rkey);
        NativeMemory.putLong(packet + OPERAND_OFFSET, operand);
        NativeMemory.putLong(packet + COMPARE_OFFSET, compare);
    }

    /** Writes the answer's header: what the word was. */
    public static void putOriginal(long packet, long original) {
        NativeMemory.putLong(packet + ORIGINAL_OFFSET, original);
    }

    /** Address of the word. */
    public static long address(long packet) {
        return NativeMemory.getLong(packet + ADDRESS_OFFSET);
    }

    /** Key of the word's memory. */
    public static int rkey(long packet) {
        return NativeMemory.getInt(packet + KEY_OFFSET);
    }

    /** What is swapped in or added. */
    public static long operand(long packet) {
        return NativeMemory.getLong(packet + OPERAND_OFFSET);
    }

    /** What the word is compared with. */
    public static long compare(long packet) {
        return NativeMemory.getLong(packet + COMPARE_OFFSET);
    }

    /** In an answer: what the word was. */
    public static long original(long packet) {
        return NativeMemory.getLong(packet + ORIGINAL_OFFSET);
    }
}
