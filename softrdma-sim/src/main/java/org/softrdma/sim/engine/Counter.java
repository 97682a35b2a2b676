package org.softrdma.sim.engine;

/** What engines count; {@link #label()} is the name in {@link org.softrdma.verbs.device.VerbsDevice#counters()}. */
public enum Counter {
    /** READs of peers answered, their responses handed to TCP. */
    RESPONDER_READS("responderReads"),
    /** Bytes of those responses. */
    RESPONDER_READ_BYTES("responderReadBytes"),
    /** WRITEs of peers placed. */
    RESPONDER_WRITES("responderWrites"),
    /** Bytes of those WRITEs. */
    RESPONDER_WRITE_BYTES("responderWriteBytes"),
    /** SENDs of peers delivered. */
    RESPONDER_SENDS("responderSends"),
    /** Accesses of peers refused by key, domain, right or range. */
    ACCESS_ERRORS("accessErrors"),
    /** Streams that broke a rule of DDP or RDMAP. */
    PROTOCOL_ERRORS("protocolErrors"),
    /** FPDUs whose CRC was wrong. */
    CRC_ERRORS("crcErrors"),
    /** Handshakes that failed: malformed, refused, too slow. */
    HANDSHAKE_ERRORS("handshakeErrors"),
    /** Connections that ended because the peer's host did not answer. */
    SILENT_HOSTS("silentHosts"),
    /** Ended connections that were reset while they waited for their peer, because too many did. */
    LINGERING_RESET("lingeringReset"),
    /** Faults of the engine, each of which cost a connection: a bug, memory that was used up, a mapped file that was truncated. */
    ENGINE_FAULTS("engineFaults"),
    /** Connections established. */
    CONNECTIONS_ESTABLISHED("connectionsEstablished"),
    /** Established connections that ended. */
    CONNECTIONS_CLOSED("connectionsClosed"),
    /** Terminates sent. */
    TERMINATES_SENT("terminatesSent"),
    /** Terminates received. */
    TERMINATES_RECEIVED("terminatesReceived"),
    /** Segments sent, WRITE. */
    SENT_WRITE("sentSegments.write"),
    /** Segments sent, READ request. */
    SENT_READ_REQUEST("sentSegments.readRequest"),
    /** Segments sent, READ response. */
    SENT_READ_RESPONSE("sentSegments.readResponse"),
    /** Segments sent, SEND. */
    SENT_SEND("sentSegments.send"),
    /** Segments received, WRITE. */
    RECEIVED_WRITE("receivedSegments.write"),
    /** Segments received, READ request. */
    RECEIVED_READ_REQUEST("receivedSegments.readRequest"),
    /** Segments received, READ response. */
    RECEIVED_READ_RESPONSE("receivedSegments.readResponse"),
    /** Segments received, SEND. */
    RECEIVED_SEND("receivedSegments.send"),
    /** Calls that received from a socket. */
    RECEIVE_CALLS("receiveCalls"),
    /** Calls that sent to a socket. */
    SEND_CALLS("sendCalls"),
    /** Sends that the kernel took only in part. */
    SHORT_SENDS("shortSends");

    private final String label;

    Counter(String label) {
        this.label = label;
    }

    /** Name in snapshots. */
    public String label() {
        return label;
    }
}
