package org.softrdma.sim.connection;

/**
 * Settings of iWARP over TCP.
 *
 * @param maxPayload most payload bytes of a segment: a word of polled memory fits, so at least 8; at most {@link
 *     #LARGEST_PAYLOAD}
 * @param copyBelow payloads below this are copied behind their header, others gathered by writev
 * @param receiveBuffer bytes of an engine's receive buffer, shared by its connections
 * @param rfc7306 it speaks RFC 7306: atomics and immediates
 * @param crc CRC32C on every connection
 * @param mpaRevision 1 or 2, of requests sent
 * @param readyRepeatNs how long until the initiator repeats its ready-to-receive to a peer that has sent nothing, twice
 *     as long each further time; 0 for never
 */
public record IwarpSettings(
        int maxPayload,
        int copyBelow,
        int receiveBuffer,
        boolean rfc7306,
        boolean crc,
        int mpaRevision,
        long readyRepeatNs) {
    /**
     * Most payload of a segment: with the longer header no ULPDU exceeds 64 768 bytes (RFC 5044 section 3), and no pad
     * is needed behind a tagged header.
     */
    public static final int LARGEST_PAYLOAD = 64_748;
}
