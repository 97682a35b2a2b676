package org.softrdma.sim.roce.wire;

import java.util.Optional;

/** What a packet of RoCEv2 does, for whoever looks on. A message of several packets is several of its kind. */
public enum PacketKind {
    /** A packet of a SEND on a connection. */
    SEND,
    /** A packet of a WRITE. */
    WRITE,
    /** The request of a READ, or of a part of it. */
    READ_REQUEST,
    /** A packet of the answer to a READ. */
    READ_RESPONSE,
    /** The request of an atomic. */
    ATOMIC_REQUEST,
    /** The answer to an atomic. */
    ATOMIC_RESPONSE,
    /** Requests were executed. */
    ACKNOWLEDGEMENT,
    /** A packet is missing, there is no RECV, or a request is refused. */
    NEGATIVE_ACKNOWLEDGEMENT,
    /** A datagram of queue pairs. */
    DATAGRAM,
    /** REQ of the connection manager. */
    CONNECT_REQUEST,
    /** MRA. */
    MESSAGE_RECEIPT,
    /** REJ. */
    CONNECT_REJECT,
    /** REP. */
    CONNECT_REPLY,
    /** RTU. */
    READY_TO_USE,
    /** DREQ. */
    DISCONNECT_REQUEST,
    /** DREP. */
    DISCONNECT_REPLY,
    /** SIDR_REQ. */
    SERVICE_REQUEST,
    /** SIDR_REP. */
    SERVICE_REPLY;

    /**
     * That of a datagram's payload; nothing if it is no packet of RoCEv2.
     *
     * @param packet where it is
     * @param length its bytes
     */
    public static Optional<PacketKind> of(long packet, int length) {
        if (RocePacket.check(packet, length) != PacketCheck.VALID) {
            return Optional.empty();
        }
        int opcode = Bth.opcode(packet);
        if (RoceOpcode.hasDeth(opcode)) {
            return Bth.destination(packet) == Mad.QUEUE_PAIR ? ofMessage(packet, length) : Optional.of(DATAGRAM);
        }
        if (!RoceOpcode.isResponse(opcode)) {
            return ofRequest(opcode);
        }
        if (opcode == RoceOpcode.ATOMIC_ACKNOWLEDGE) {
            return Optional.of(ATOMIC_RESPONSE);
        }
        if (opcode != RoceOpcode.ACKNOWLEDGE) {
            return Optional.of(READ_RESPONSE);
        }
        return Optional.of(Aeth.isAcknowledged(Aeth.syndrome(packet)) ? ACKNOWLEDGEMENT : NEGATIVE_ACKNOWLEDGEMENT);
    }

    private static Optional<PacketKind> ofRequest(int opcode) {
        if (RoceOpcode.isSend(opcode)) {
            return Optional.of(SEND);
        }
        if (RoceOpcode.isWrite(opcode)) {
            return Optional.of(WRITE);
        }
        if (RoceOpcode.isAtomic(opcode)) {
            return Optional.of(ATOMIC_REQUEST);
        }
        return opcode == RoceOpcode.READ_REQUEST ? Optional.of(READ_REQUEST) : Optional.empty();
    }

    private static Optional<PacketKind> ofMessage(long packet, int length) {
        long mad = packet + RoceOpcode.headerLength(Bth.opcode(packet));
        if (!Mad.isValid(mad, RocePacket.payloadLength(packet, length))) {
            return Optional.empty();
        }
        return switch (Mad.attribute(mad)) {
            case Mad.CONNECT_REQUEST -> Optional.of(CONNECT_REQUEST);
            case Mad.MESSAGE_RECEIPT -> Optional.of(MESSAGE_RECEIPT);
            case Mad.CONNECT_REJECT -> Optional.of(CONNECT_REJECT);
            case Mad.CONNECT_REPLY -> Optional.of(CONNECT_REPLY);
            case Mad.READY_TO_USE -> Optional.of(READY_TO_USE);
            case Mad.DISCONNECT_REQUEST -> Optional.of(DISCONNECT_REQUEST);
            case Mad.DISCONNECT_REPLY -> Optional.of(DISCONNECT_REPLY);
            case Mad.SERVICE_REQUEST -> Optional.of(SERVICE_REQUEST);
            case Mad.SERVICE_REPLY -> Optional.of(SERVICE_REPLY);
            default -> Optional.empty();
        };
    }
}
