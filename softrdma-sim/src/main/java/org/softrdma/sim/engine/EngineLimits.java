package org.softrdma.sim.engine;

/**
 * Sizes that shape the data path.
 *
 * @param maxPayload most payload bytes of a segment; at most {@link #LARGEST_PAYLOAD}
 * @param copyBelow payloads below this are copied behind their header, others gathered by writev
 * @param receiveBuffer bytes of an engine's receive buffer, shared by its connections
 * @param crc ask for CRC32C on every connection
 * @param mpaRevision 1 or 2, of requests sent
 * @param handshakeTimeoutNs how long a peer may take for its part of the handshake
 * @param readyRepeatNs after how long the initiator says again that it is ready to a peer that has sent nothing, the next times
 *     after twice as long each; 0 for never
 * @param lingerTimeoutNs how long an ended connection waits for the peer to end its side
 * @param lingering most ended connections of an engine that wait at once; of more, the one that has waited longest is reset
 * @param hostTimeoutNs after which a host that answers nothing is gone; 0 for never
 */
public record EngineLimits(
        int maxPayload,
        int copyBelow,
        int receiveBuffer,
        boolean crc,
        int mpaRevision,
        long handshakeTimeoutNs,
        long readyRepeatNs,
        long lingerTimeoutNs,
        int lingering,
        long hostTimeoutNs) {
    /**
     * Most payload of a segment: with the longer header no ULPDU exceeds 64 768 bytes (RFC 5044 section 3), and no pad is needed
     * behind a tagged header.
     */
    public static final int LARGEST_PAYLOAD = 64_748;
}
