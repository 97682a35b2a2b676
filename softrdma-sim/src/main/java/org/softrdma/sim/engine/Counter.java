package org.softrdma.sim.engine;

/**
 * What engines count on every wire; {@link #label()} is the name in {@link org.softrdma.verbs.device.VerbsDevice#counters()}.
 */
public enum Counter {
    /** READs of peers whose responses were handed to TCP. */
    RESPONDER_READS("responderReads"),
    /** Bytes of those responses. */
    RESPONDER_READ_BYTES("responderReadBytes"),
    /** WRITEs of peers placed. */
    RESPONDER_WRITES("responderWrites"),
    /** Bytes of those WRITEs. */
    RESPONDER_WRITE_BYTES("responderWriteBytes"),
    /** SENDs of peers delivered. */
    RESPONDER_SENDS("responderSends"),
    /** Atomics of peers executed. */
    RESPONDER_ATOMICS("responderAtomics"),
    /** Immediates of peers delivered. */
    RESPONDER_IMMEDIATES("responderImmediates"),
    /** Accesses of peers that were refused for their key, domain, right or range. */
    ACCESS_ERRORS("accessErrors"),
    /** Connections whose peer broke a rule of the protocol. */
    PROTOCOL_ERRORS("protocolErrors"),
    /** Frames whose CRC was wrong. */
    CRC_ERRORS("crcErrors"),
    /** Handshakes that failed: malformed, refused, too slow. */
    HANDSHAKE_ERRORS("handshakeErrors"),
    /** Connections that ended because the peer's host did not answer. */
    SILENT_HOSTS("silentHosts"),
    /** Ended connections that were reset because too many were waiting for their peer. */
    LINGERING_RESET("lingeringReset"),
    /** Connections that were ended because their peer left a frame with CRC unfinished while others needed the memory. */
    UNFINISHED_ENDED("unfinishedEnded"),
    /**
     * Faults of the engine, most of which ended a connection: a bug, no memory left, a mapped file that was truncated.
     */
    ENGINE_FAULTS("engineFaults"),
    /** Connections established. */
    CONNECTIONS_ESTABLISHED("connectionsEstablished"),
    /** Established connections that ended. */
    CONNECTIONS_CLOSED("connectionsClosed"),
    /** Calls that received from a socket. */
    RECEIVE_CALLS("receiveCalls"),
    /** Calls that sent to a socket. */
    SEND_CALLS("sendCalls"),
    /** Sends of which the kernel took only a part. */
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
