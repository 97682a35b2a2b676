package org.softrdma.sim.wire;

/** The kinds of messages, each with the names of its counters of segments. */
public enum MessageKind {
    /** WRITE. */
    WRITE(true, "sentSegments.write", "receivedSegments.write"),
    /** SEND, solicited or not. */
    SEND(true, "sentSegments.send", "receivedSegments.send"),
    /** READ request. */
    READ_REQUEST(true, "sentSegments.readRequest", "receivedSegments.readRequest"),
    /** READ response. */
    READ_RESPONSE(false, "sentSegments.readResponse", "receivedSegments.readResponse"),
    /** Terminate. */
    TERMINATE(false, "terminatesSent", "terminatesReceived"),
    /** Ready-to-receive: a WRITE of no bytes, which nobody asked for (RFC 6581 section 9.2). */
    READY_TO_RECEIVE(false, "sentSegments.write", "receivedSegments.write");

    private final boolean request;
    private final String sentLabel;
    private final String receivedLabel;

    MessageKind(boolean request, String sentLabel, String receivedLabel) {
        this.request = request;
        this.sentLabel = sentLabel;
        this.receivedLabel = receivedLabel;
    }

    /** True if it is a request of the send queue, whose payload is sent from the application's memory. */
    public boolean isRequest() {
        return request;
    }

    /** Name of the counter of those sent. */
    public String sentLabel() {
        return sentLabel;
    }

    /** Name of the counter of those received. */
    public String receivedLabel() {
        return receivedLabel;
    }
}
