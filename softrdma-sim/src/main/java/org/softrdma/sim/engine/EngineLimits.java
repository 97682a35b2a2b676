package org.softrdma.sim.engine;

/**
 * Sizes, counts and times of an engine's data path and connections.
 *
 * @param maxPayload most payload bytes of a segment: a word of polled memory fits, so at least 8; at most {@link
 *     #LARGEST_PAYLOAD}
 * @param copyBelow payloads below this are copied behind their header, others gathered by writev
 * @param receiveBuffer bytes of an engine's receive buffer, shared by its connections
 * @param lingering maximum number of an engine's ended connections that wait for their peer; beyond it the
 *     longest-waiting one is reset
 * @param rfc7306 it speaks RFC 7306: atomics and immediates
 * @param mpa what the handshake asks for
 * @param timeouts how long it waits for peers
 */
public record EngineLimits(
        int maxPayload,
        int copyBelow,
        int receiveBuffer,
        int lingering,
        boolean rfc7306,
        MpaOffer mpa,
        EngineTimeouts timeouts) {
    /**
     * Most payload of a segment: with the longer header no ULPDU exceeds 64 768 bytes (RFC 5044 section 3), and no pad
     * is needed behind a tagged header.
     */
    public static final int LARGEST_PAYLOAD = 64_748;
}
