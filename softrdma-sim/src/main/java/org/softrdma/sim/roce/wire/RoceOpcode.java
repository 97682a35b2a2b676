package org.softrdma.sim.roce.wire;

import java.util.Map;

/**
 * The opcode of a packet: the transport in the upper three bits, the operation in the lower five (IBA volume 1, 9.2.1).
 * Which headers follow the BTH, what an operation begins and ends, and what it carries are looked up in one table.
 */
public final class RoceOpcode {
    /** Transport: reliable connection. */
    public static final int RC = 0x00;
    /** Transport: unreliable connection. */
    public static final int UC = 0x20;
    /** Transport: unreliable datagram. */
    public static final int UD = 0x60;
    /** The bits of the transport. */
    public static final int TRANSPORT_MASK = 0xE0;
    /** The bits of the operation. */
    public static final int OPERATION_MASK = 0x1F;

    /** Operation: first packet of a SEND. */
    public static final int SEND_FIRST = 0x00;
    /** Operation: packet in the middle of a SEND. */
    public static final int SEND_MIDDLE = 0x01;
    /** Operation: last packet of a SEND. */
    public static final int SEND_LAST = 0x02;
    /** Operation: last packet of a SEND with immediate data. */
    public static final int SEND_LAST_IMMEDIATE = 0x03;
    /** Operation: only packet of a SEND. */
    public static final int SEND_ONLY = 0x04;
    /** Operation: only packet of a SEND with immediate data. */
    public static final int SEND_ONLY_IMMEDIATE = 0x05;
    /** Operation: first packet of a WRITE. */
    public static final int WRITE_FIRST = 0x06;
    /** Operation: packet in the middle of a WRITE. */
    public static final int WRITE_MIDDLE = 0x07;
    /** Operation: last packet of a WRITE. */
    public static final int WRITE_LAST = 0x08;
    /** Operation: last packet of a WRITE with immediate data. */
    public static final int WRITE_LAST_IMMEDIATE = 0x09;
    /** Operation: only packet of a WRITE. */
    public static final int WRITE_ONLY = 0x0A;
    /** Operation: only packet of a WRITE with immediate data. */
    public static final int WRITE_ONLY_IMMEDIATE = 0x0B;
    /** Operation: request of a READ. */
    public static final int READ_REQUEST = 0x0C;
    /** Operation: first packet of the answer to a READ. */
    public static final int READ_RESPONSE_FIRST = 0x0D;
    /** Operation: packet in the middle of the answer to a READ. */
    public static final int READ_RESPONSE_MIDDLE = 0x0E;
    /** Operation: last packet of the answer to a READ. */
    public static final int READ_RESPONSE_LAST = 0x0F;
    /** Operation: only packet of the answer to a READ. */
    public static final int READ_RESPONSE_ONLY = 0x10;
    /** Operation: acknowledgement, also a negative one. */
    public static final int ACKNOWLEDGE = 0x11;
    /** Operation: answer to an atomic. */
    public static final int ATOMIC_ACKNOWLEDGE = 0x12;
    /** Operation: compare and swap. */
    public static final int COMPARE_SWAP = 0x13;
    /** Operation: fetch and add. */
    public static final int FETCH_ADD = 0x14;
    /** Operation: last packet of a SEND that invalidates a key. */
    public static final int SEND_LAST_INVALIDATE = 0x16;
    /** Operation: only packet of a SEND that invalidates a key. */
    public static final int SEND_ONLY_INVALIDATE = 0x17;

    /** The whole opcode of a congestion notification (annex A17), which belongs to no transport. */
    public static final int CONGESTION_NOTIFICATION = 0x81;

    private static final int KNOWN = 1;
    private static final int HAS_DETH = 1 << 1;
    private static final int HAS_RETH = 1 << 2;
    private static final int HAS_AETH = 1 << 3;
    private static final int HAS_ATOMIC = 1 << 4;
    private static final int HAS_ATOMIC_ACK = 1 << 5;
    private static final int HAS_IMMEDIATE = 1 << 6;
    private static final int HAS_INVALIDATE = 1 << 7;
    private static final int HAS_RESERVED = 1 << 8;
    private static final int PAYLOAD = 1 << 9;
    private static final int RESPONSE = 1 << 10;
    private static final int BEGINS = 1 << 11;
    private static final int ENDS = 1 << 12;
    private static final int SEND = 1 << 13;
    private static final int WRITE = 1 << 14;

    private static final int OPCODES = 256;
    private static final int RESERVED_LENGTH = 16;

    private static final int[] TRAITS = new int[OPCODES];
    private static final byte[] HEADER_LENGTHS = new byte[OPCODES];

    static {
        Map<Integer, Integer> sends = Map.of(
                SEND_FIRST,
                BEGINS,
                SEND_MIDDLE,
                0,
                SEND_LAST,
                ENDS,
                SEND_LAST_IMMEDIATE,
                ENDS | HAS_IMMEDIATE,
                SEND_ONLY,
                BEGINS | ENDS,
                SEND_ONLY_IMMEDIATE,
                BEGINS | ENDS | HAS_IMMEDIATE);
        Map<Integer, Integer> writes = Map.of(
                WRITE_FIRST, BEGINS | HAS_RETH,
                WRITE_MIDDLE, 0,
                WRITE_LAST, ENDS,
                WRITE_LAST_IMMEDIATE, ENDS | HAS_IMMEDIATE,
                WRITE_ONLY, BEGINS | ENDS | HAS_RETH,
                WRITE_ONLY_IMMEDIATE, BEGINS | ENDS | HAS_RETH | HAS_IMMEDIATE);
        sends.forEach((operation, traits) -> {
            add(RC | operation, SEND | PAYLOAD | traits);
            add(UC | operation, SEND | PAYLOAD | traits);
        });
        writes.forEach((operation, traits) -> {
            add(RC | operation, WRITE | PAYLOAD | traits);
            add(UC | operation, WRITE | PAYLOAD | traits);
        });
        add(RC | SEND_LAST_INVALIDATE, SEND | PAYLOAD | ENDS | HAS_INVALIDATE);
        add(RC | SEND_ONLY_INVALIDATE, SEND | PAYLOAD | BEGINS | ENDS | HAS_INVALIDATE);
        add(RC | READ_REQUEST, BEGINS | ENDS | HAS_RETH);
        add(RC | COMPARE_SWAP, BEGINS | ENDS | HAS_ATOMIC);
        add(RC | FETCH_ADD, BEGINS | ENDS | HAS_ATOMIC);
        add(RC | READ_RESPONSE_FIRST, RESPONSE | PAYLOAD | BEGINS | HAS_AETH);
        add(RC | READ_RESPONSE_MIDDLE, RESPONSE | PAYLOAD);
        add(RC | READ_RESPONSE_LAST, RESPONSE | PAYLOAD | ENDS | HAS_AETH);
        add(RC | READ_RESPONSE_ONLY, RESPONSE | PAYLOAD | BEGINS | ENDS | HAS_AETH);
        add(RC | ACKNOWLEDGE, RESPONSE | BEGINS | ENDS | HAS_AETH);
        add(RC | ATOMIC_ACKNOWLEDGE, RESPONSE | BEGINS | ENDS | HAS_AETH | HAS_ATOMIC_ACK);
        add(UD | SEND_ONLY, SEND | PAYLOAD | BEGINS | ENDS | HAS_DETH);
        add(UD | SEND_ONLY_IMMEDIATE, SEND | PAYLOAD | BEGINS | ENDS | HAS_DETH | HAS_IMMEDIATE);
        add(CONGESTION_NOTIFICATION, BEGINS | ENDS | HAS_RESERVED);
    }

    private RoceOpcode() {}

    private static void add(int opcode, int traits) {
        TRAITS[opcode] = KNOWN | traits;
        HEADER_LENGTHS[opcode] = (byte) (Bth.LENGTH
                + length(traits, HAS_DETH, Deth.LENGTH)
                + length(traits, HAS_RETH, Reth.LENGTH)
                + length(traits, HAS_AETH, Aeth.LENGTH)
                + length(traits, HAS_ATOMIC, AtomicEth.LENGTH)
                + length(traits, HAS_ATOMIC_ACK, AtomicEth.ANSWER_LENGTH)
                + length(traits, HAS_IMMEDIATE | HAS_INVALIDATE, Integer.BYTES)
                + length(traits, HAS_RESERVED, RESERVED_LENGTH));
    }

    private static int length(int traits, int header, int bytes) {
        return (traits & header) == 0 ? 0 : bytes;
    }

    private static boolean has(int opcode, int traits) {
        return (TRAITS[opcode] & traits) != 0;
    }

    /** True for an opcode, 0 to 255, that a packet can have here. */
    public static boolean isKnown(int opcode) {
        return has(opcode, KNOWN);
    }

    /** Bytes of the BTH and of the headers behind it; 0 if the opcode is unknown. */
    public static int headerLength(int opcode) {
        return HEADER_LENGTHS[opcode];
    }

    /** True for what a responder of RC sends; every other known opcode but CNP is a request's. */
    public static boolean isResponse(int opcode) {
        return has(opcode, RESPONSE);
    }

    /** True for the first or only packet of a message. */
    public static boolean beginsMessage(int opcode) {
        return has(opcode, BEGINS);
    }

    /** True for the last or only packet of a message. */
    public static boolean endsMessage(int opcode) {
        return has(opcode, ENDS);
    }

    /** True for a packet of a SEND. */
    public static boolean isSend(int opcode) {
        return has(opcode, SEND);
    }

    /** True for a packet of a WRITE. */
    public static boolean isWrite(int opcode) {
        return has(opcode, WRITE);
    }

    /** True for the request of a compare and swap or fetch and add. */
    public static boolean isAtomic(int opcode) {
        return has(opcode, HAS_ATOMIC);
    }

    /** True if bytes of a message may follow the headers. */
    public static boolean carriesPayload(int opcode) {
        return has(opcode, PAYLOAD);
    }

    /** True if a {@link Reth} follows the BTH. */
    public static boolean hasReth(int opcode) {
        return has(opcode, HAS_RETH);
    }

    /** True if an {@link Aeth} follows the BTH. */
    public static boolean hasAeth(int opcode) {
        return has(opcode, HAS_AETH);
    }

    /** True if a {@link Deth} follows the BTH. */
    public static boolean hasDeth(int opcode) {
        return has(opcode, HAS_DETH);
    }

    /** True if the last header is immediate data. */
    public static boolean hasImmediate(int opcode) {
        return has(opcode, HAS_IMMEDIATE);
    }

    /** True if the last header is the key to invalidate. */
    public static boolean hasInvalidate(int opcode) {
        return has(opcode, HAS_INVALIDATE);
    }
}
