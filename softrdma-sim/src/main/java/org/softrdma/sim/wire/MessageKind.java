package org.softrdma.sim.wire;

import java.util.Arrays;

/** The kinds of messages, each with the names of its segment counters and its {@linkplain RdmapOpcode opcodes}. */
public enum MessageKind {
    /** WRITE. */
    WRITE(true, "sentSegments.write", "receivedSegments.write", RdmapOpcode.WRITE),
    /** SEND, solicited or not, with an invalidation or without. */
    SEND(
            true,
            "sentSegments.send",
            "receivedSegments.send",
            RdmapOpcode.SEND,
            RdmapOpcode.SEND_SOLICITED,
            RdmapOpcode.SEND_INVALIDATE,
            RdmapOpcode.SEND_SOLICITED_INVALIDATE),
    /** READ request. */
    READ_REQUEST(true, "sentSegments.readRequest", "receivedSegments.readRequest", RdmapOpcode.READ_REQUEST),
    /** READ response. */
    READ_RESPONSE(false, "sentSegments.readResponse", "receivedSegments.readResponse", RdmapOpcode.READ_RESPONSE),
    /** Immediate Data, solicited or not: the second message of a WRITE with immediate. */
    IMMEDIATE(
            true,
            "sentSegments.immediate",
            "receivedSegments.immediate",
            RdmapOpcode.IMMEDIATE,
            RdmapOpcode.IMMEDIATE_SOLICITED),
    /** Atomic Request. */
    ATOMIC_REQUEST(
            true, "sentSegments.atomicRequest", "receivedSegments.atomicRequest", RdmapOpcode.ATOMIC_REQUEST),
    /** Atomic Response. */
    ATOMIC_RESPONSE(
            false, "sentSegments.atomicResponse", "receivedSegments.atomicResponse", RdmapOpcode.ATOMIC_RESPONSE),
    /** Terminate. */
    TERMINATE(false, "terminatesSent", "terminatesReceived", RdmapOpcode.TERMINATE),
    /** Ready-to-receive: a zero-length WRITE that no application posted (RFC 6581 section 9.2). */
    READY_TO_RECEIVE(false, "sentSegments.write", "receivedSegments.write");

    private static final MessageKind[] BY_OPCODE = new MessageKind[RdmapOpcode.COUNT];

    static {
        for (MessageKind kind : values()) {
            Arrays.stream(kind.opcodes).forEach(opcode -> BY_OPCODE[opcode] = kind);
        }
    }

    private final boolean request;
    private final String sentLabel;
    private final String receivedLabel;
    private final int[] opcodes;

    MessageKind(boolean request, String sentLabel, String receivedLabel, int... opcodes) {
        this.request = request;
        this.sentLabel = sentLabel;
        this.receivedLabel = receivedLabel;
        this.opcodes = opcodes;
    }

    /**
     * The kind of the messages with an opcode; a ready-to-receive has that of a WRITE.
     *
     * @param opcode below {@link RdmapOpcode#COUNT}
     */
    public static MessageKind of(int opcode) {
        return BY_OPCODE[opcode];
    }

    /** True for a request of the send queue. */
    public boolean isRequest() {
        return request;
    }

    /** Counter name of sent segments. */
    public String sentLabel() {
        return sentLabel;
    }

    /** Counter name of received segments. */
    public String receivedLabel() {
        return receivedLabel;
    }
}
