package org.softrdma.sim.wire;

/** The kinds of messages, each with the names of its segment counters. */
public enum MessageKind {
    /** WRITE. */
    WRITE(true, "sentSegments.write", "receivedSegments.write"),
    /** SEND, solicited or not, with an invalidation or without. */
    SEND(true, "sentSegments.send", "receivedSegments.send"),
    /** READ request. */
    READ_REQUEST(true, "sentSegments.readRequest", "receivedSegments.readRequest"),
    /** READ response. */
    READ_RESPONSE(false, "sentSegments.readResponse", "receivedSegments.readResponse"),
    /** Immediate Data, solicited or not: the second message of a WRITE with immediate. */
    IMMEDIATE(true, "sentSegments.immediate", "receivedSegments.immediate"),
    /** Atomic Request. */
    ATOMIC_REQUEST(true, "sentSegments.atomicRequest", "receivedSegments.atomicRequest"),
    /** Atomic Response. */
    ATOMIC_RESPONSE(false, "sentSegments.atomicResponse", "receivedSegments.atomicResponse"),
    /** Terminate. */
    TERMINATE(false, "terminatesSent", "terminatesReceived"),
    /** Ready-to-receive: a zero-length WRITE that no application posted (RFC 6581 section 9.2). */
    READY_TO_RECEIVE(false, "sentSegments.write", "receivedSegments.write");

    private final boolean request;
    private final String sentLabel;
    private final String receivedLabel;

    MessageKind(boolean request, String sentLabel, String receivedLabel) {
        this.request = request;
        this.sentLabel = sentLabel;
        this.receivedLabel = receivedLabel;
    }

    /**
     * The kind of the messages with an opcode of RDMAP; a ready-to-receive has that of a WRITE.
     *
     * @param opcode below {@link RdmapOpcode#COUNT}
     */
    public static MessageKind of(int opcode) {
        return switch (opcode) {
            case RdmapOpcode.WRITE -> WRITE;
            case RdmapOpcode.READ_REQUEST -> READ_REQUEST;
            case RdmapOpcode.READ_RESPONSE -> READ_RESPONSE;
            case RdmapOpcode.SEND,
                    RdmapOpcode.SEND_INVALIDATE,
                    RdmapOpcode.SEND_SOLICITED,
                    RdmapOpcode.SEND_SOLICITED_INVALIDATE -> SEND;
            case RdmapOpcode.TERMINATE -> TERMINATE;
            case RdmapOpcode.IMMEDIATE, RdmapOpcode.IMMEDIATE_SOLICITED -> IMMEDIATE;
            case RdmapOpcode.ATOMIC_REQUEST -> ATOMIC_REQUEST;
            case RdmapOpcode.ATOMIC_RESPONSE -> ATOMIC_RESPONSE;
            default ->
                throw new IllegalArgumentException("opcode " + opcode + ": expected 0 to " + (RdmapOpcode.COUNT - 1));
        };
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
