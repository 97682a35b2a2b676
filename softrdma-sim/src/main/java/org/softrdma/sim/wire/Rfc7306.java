package org.softrdma.sim.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The messages that RFC 7306 adds to RDMAP: each is one untagged segment, last of its message, without payload behind
 * its own header.
 *
 * <p>Offsets count from the first byte of the FPDU, big endian, behind the header of an untagged segment ({@link Ddp}).
 * The sender writes every field.
 *
 * <pre>
 *   Immediate Data, with solicited event or without (opcodes 8 and 9, queue 0; section 6.2)
 *   31                                                              0
 *   +---------------------------------------------------------------+
 *   |  immediate of the verbs, 32 bits                              |  20
 *   +---------------------------------------------------------------+
 *   |  0, ignored by the receiver                                   |  24
 *   +---------------------------------------------------------------+  28
 *
 *   Atomic Request (opcode 10, queue 1, numbered together with READ requests; section 5.2.1)
 *   +-------------------------------------------------------+-------+
 *   |  0, ignored by the receiver                           |AOpCode|  20
 *   +-------------------------------------------------------+-------+
 *   |  request identifier                                           |  24
 *   +---------------------------------------------------------------+
 *   |  STag of the word                                             |  28
 *   |  tagged offset of the word, 64 bits                           |  32
 *   |  add or swap data, 64 bits                                    |  40
 *   |  add or swap mask, 64 bits                                    |  48
 *   |  compare data, 64 bits                                        |  56
 *   |  compare mask, 64 bits                                        |  64
 *   +---------------------------------------------------------------+  72
 *
 *   Atomic Response (opcode 11, queue 3; section 5.2.2, whose figure has 12 bytes, although section 4 speaks of 32)
 *   +---------------------------------------------------------------+
 *   |  request identifier                                           |  20
 *   |  what the word was, 64 bits                                   |  24
 *   +---------------------------------------------------------------+  32
 * </pre>
 */
public final class Rfc7306 {
    /** Immediate Data: the immediate of the verbs. */
    public static final int IMMEDIATE_OFFSET = Ddp.UNTAGGED_HEADER_LENGTH;
    /** End of Immediate Data. */
    public static final int IMMEDIATE_END = IMMEDIATE_OFFSET + Long.BYTES;
    /** Bytes of Immediate Data behind the DDP header. */
    public static final int IMMEDIATE_LENGTH = IMMEDIATE_END - Ddp.UNTAGGED_HEADER_LENGTH;

    /** Atomic Request: reserved bits and the operation. */
    public static final int OPERATION_OFFSET = Ddp.UNTAGGED_HEADER_LENGTH;
    /** Atomic Request: chosen by the requester, comes back in the response. */
    public static final int IDENTIFIER_OFFSET = OPERATION_OFFSET + Integer.BYTES;
    /** Atomic Request: STag of the word. */
    public static final int WORD_STAG_OFFSET = IDENTIFIER_OFFSET + Integer.BYTES;
    /** Atomic Request: tagged offset of the word. */
    public static final int WORD_OFFSET_OFFSET = WORD_STAG_OFFSET + Integer.BYTES;
    /** Atomic Request: what is added or put in the word's place. */
    public static final int DATA_OFFSET = WORD_OFFSET_OFFSET + Long.BYTES;
    /** Atomic Request: highest bits of the fields that are added, or the bits that are replaced. */
    public static final int MASK_OFFSET = DATA_OFFSET + Long.BYTES;
    /** Atomic Request: what the word is compared with. */
    public static final int COMPARE_OFFSET = MASK_OFFSET + Long.BYTES;
    /** Atomic Request: the bits that are compared. */
    public static final int COMPARE_MASK_OFFSET = COMPARE_OFFSET + Long.BYTES;
    /** End of an Atomic Request. */
    public static final int REQUEST_END = COMPARE_MASK_OFFSET + Long.BYTES;
    /** Bytes of an Atomic Request behind the DDP header. */
    public static final int REQUEST_LENGTH = REQUEST_END - Ddp.UNTAGGED_HEADER_LENGTH;

    /** Atomic Response: the identifier of the request. */
    public static final int RESPONSE_IDENTIFIER_OFFSET = Ddp.UNTAGGED_HEADER_LENGTH;
    /** Atomic Response: what the word was. */
    public static final int ORIGINAL_OFFSET = RESPONSE_IDENTIFIER_OFFSET + Integer.BYTES;
    /** End of an Atomic Response. */
    public static final int RESPONSE_END = ORIGINAL_OFFSET + Long.BYTES;
    /** Bytes of an Atomic Response behind the DDP header. */
    public static final int RESPONSE_LENGTH = RESPONSE_END - Ddp.UNTAGGED_HEADER_LENGTH;

    /** AOpCode of FetchAdd. */
    public static final int FETCH_ADD = 0;
    /** AOpCode of CmpSwap. */
    public static final int COMPARE_SWAP = 2;

    private static final int OPERATION_MASK = 0xF;
    /** FetchAdd: the word is one field. */
    private static final long ONE_FIELD = 0;
    /** Every bit. A FetchAdd carries it as its compare mask, which nobody looks at (section 5.2.1). */
    private static final long ALL_BITS = -1;

    private Rfc7306() {}

    /**
     * Writes an Immediate Data message up to its pad.
     *
     * @param fpdu where
     * @param solicited raises a solicited event
     * @param msn message sequence number on queue 0
     * @param immediate of the verbs
     */
    public static void putImmediate(long fpdu, boolean solicited, int msn, int immediate) {
        int opcode = solicited ? RdmapOpcode.IMMEDIATE_SOLICITED : RdmapOpcode.IMMEDIATE;
        Ddp.putUntagged(fpdu, opcode, true, Ddp.QUEUE_SEND, msn, 0, IMMEDIATE_LENGTH);
        NativeMemory.putInt(fpdu + IMMEDIATE_OFFSET, immediate);
        NativeMemory.putInt(fpdu + IMMEDIATE_OFFSET + Integer.BYTES, 0);
    }

    /**
     * Writes a FetchAdd of a whole word up to its pad.
     *
     * @param fpdu where
     * @param msn message sequence number on queue 1
     * @param identifier comes back in the response
     * @param stag STag of the word
     * @param offset tagged offset of the word
     * @param delta what is added
     */
    public static void putFetchAdd(long fpdu, int msn, int identifier, int stag, long offset, long delta) {
        putRequest(fpdu, msn, FETCH_ADD, identifier, stag, offset);
        putOperands(fpdu, delta, ONE_FIELD, 0);
    }

    /**
     * Writes a CmpSwap of a whole word up to its pad.
     *
     * @param fpdu where
     * @param msn message sequence number on queue 1
     * @param identifier comes back in the response
     * @param stag STag of the word
     * @param offset tagged offset of the word
     * @param expected what the word must be
     * @param replacement what it becomes
     */
    public static void putCompareSwap(
            long fpdu, int msn, int identifier, int stag, long offset, long expected, long replacement) {
        putRequest(fpdu, msn, COMPARE_SWAP, identifier, stag, offset);
        putOperands(fpdu, replacement, ALL_BITS, expected);
    }

    private static void putRequest(long fpdu, int msn, int operation, int identifier, int stag, long offset) {
        Ddp.putUntagged(fpdu, RdmapOpcode.ATOMIC_REQUEST, true, Ddp.QUEUE_READ_REQUEST, msn, 0, REQUEST_LENGTH);
        NativeMemory.putInt(fpdu + OPERATION_OFFSET, operation);
        NativeMemory.putInt(fpdu + IDENTIFIER_OFFSET, identifier);
        NativeMemory.putInt(fpdu + WORD_STAG_OFFSET, stag);
        NativeMemory.putLong(fpdu + WORD_OFFSET_OFFSET, offset);
    }

    private static void putOperands(long fpdu, long data, long mask, long compare) {
        NativeMemory.putLong(fpdu + DATA_OFFSET, data);
        NativeMemory.putLong(fpdu + MASK_OFFSET, mask);
        NativeMemory.putLong(fpdu + COMPARE_OFFSET, compare);
        NativeMemory.putLong(fpdu + COMPARE_MASK_OFFSET, ALL_BITS);
    }

    /** The operation that an Atomic Request asks for, perhaps none that there is. */
    public static int operation(long fpdu) {
        return NativeMemory.getInt(fpdu + OPERATION_OFFSET) & OPERATION_MASK;
    }

    /**
     * Writes an Atomic Response up to its pad.
     *
     * @param fpdu where
     * @param msn message sequence number on queue 3
     * @param identifier of the request
     * @param original what the word was
     */
    public static void putResponse(long fpdu, int msn, int identifier, long original) {
        Ddp.putUntagged(fpdu, RdmapOpcode.ATOMIC_RESPONSE, true, Ddp.QUEUE_ATOMIC_RESPONSE, msn, 0, RESPONSE_LENGTH);
        NativeMemory.putInt(fpdu + RESPONSE_IDENTIFIER_OFFSET, identifier);
        NativeMemory.putLong(fpdu + ORIGINAL_OFFSET, original);
    }
}
