package org.softrdma.sim.roce.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.softrdma.net.memory.NativeMemory;

/** All fields of a packet but its ICRC, by name, in hex digits: read from a packet, and written into one. */
final class PacketFields {
    private PacketFields() {}

    /** Reads a packet that was checked. */
    static Map<String, String> read(CapturedPacket captured) {
        long packet = captured.address();
        int opcode = Bth.opcode(packet);
        Map<String, String> fields = new TreeMap<>();
        put(fields, "opcode", opcode);
        put(fields, "flags", Bth.flags(packet));
        put(fields, "destination", Bth.destination(packet));
        put(fields, "psn", Bth.psn(packet));
        put(fields, "acknowledge", Bth.isAcknowledgementRequested(packet) ? 1 : 0);
        if (RoceOpcode.hasDeth(opcode)) {
            put(fields, "key", Integer.toUnsignedLong(Deth.queueKey(packet)));
            put(fields, "source", Deth.source(packet));
        }
        if (RoceOpcode.hasReth(opcode)) {
            put(fields, "address", Reth.address(packet));
            put(fields, "rkey", Integer.toUnsignedLong(Reth.rkey(packet)));
            put(fields, "length", Reth.messageLength(packet));
        }
        if (RoceOpcode.hasAeth(opcode)) {
            put(fields, "syndrome", Aeth.syndrome(packet));
            put(fields, "msn", Aeth.msn(packet));
        }
        if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            put(fields, "original", AtomicEth.original(packet));
        }
        if (RoceOpcode.isAtomic(opcode)) {
            put(fields, "address", AtomicEth.address(packet));
            put(fields, "rkey", Integer.toUnsignedLong(AtomicEth.rkey(packet)));
            put(fields, "operand", AtomicEth.operand(packet));
            put(fields, "compare", AtomicEth.compare(packet));
        }
        if (RoceOpcode.hasImmediate(opcode) || RoceOpcode.hasInvalidate(opcode)) {
            put(fields, "word", Integer.toUnsignedLong(RocePacket.lastWord(packet)));
        }
        int payloadLength = RocePacket.payloadLength(packet, captured.length());
        byte[] payload = NativeMemory.bytes(packet + RoceOpcode.headerLength(opcode), payloadLength);
        fields.put("payload", HexFormat.of().formatHex(payload));
        return fields;
    }

    private static void put(Map<String, String> fields, String name, long value) {
        fields.put(name, Long.toHexString(value));
    }

    /** Writes a packet of these fields with the ICRC of a datagram. */
    static String write(Map<String, String> fields, PseudoHeader header) {
        int opcode = (int) field(fields, "opcode");
        byte[] payload = HexFormat.of().parseHex(fields.get("payload"));
        int length = RocePacket.length(opcode, payload.length);
        MemorySegment memory = Arena.ofAuto().allocate(length, Long.BYTES);
        memory.fill((byte) 0xEE);
        long packet = memory.address();
        Bth.put(packet, opcode, (int) field(fields, "flags"), payload.length, (int) field(fields, "destination"), (int)
                field(fields, "psn"));
        if (field(fields, "acknowledge") == 1) {
            Bth.requestAcknowledgement(packet);
        }
        if (RoceOpcode.hasDeth(opcode)) {
            Deth.put(packet, (int) field(fields, "key"), (int) field(fields, "source"));
        }
        if (RoceOpcode.hasReth(opcode)) {
            Reth.put(packet, field(fields, "address"), (int) field(fields, "rkey"), (int) field(fields, "length"));
        }
        if (RoceOpcode.hasAeth(opcode)) {
            Aeth.put(packet, (int) field(fields, "syndrome"), (int) field(fields, "msn"));
        }
        if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            AtomicEth.putOriginal(packet, field(fields, "original"));
        }
        if (RoceOpcode.isAtomic(opcode)) {
            AtomicEth.put(
                    packet,
                    field(fields, "address"),
                    (int) field(fields, "rkey"),
                    field(fields, "operand"),
                    field(fields, "compare"));
        }
        if (RoceOpcode.hasImmediate(opcode) || RoceOpcode.hasInvalidate(opcode)) {
            RocePacket.putLastWord(packet, opcode, (int) field(fields, "word"));
        }
        NativeMemory.put(packet + RoceOpcode.headerLength(opcode), payload);
        RocePacket.putPad(packet, opcode, payload.length);
        RocePacket.putIcrc(packet, length, new Icrc().compute(header, memory.asByteBuffer(), packet, packet, length));
        return HexFormat.of().formatHex(NativeMemory.bytes(packet, length));
    }

    private static long field(Map<String, String> fields, String name) {
        return Long.parseUnsignedLong(fields.getOrDefault(name, "0"), 16);
    }
}
