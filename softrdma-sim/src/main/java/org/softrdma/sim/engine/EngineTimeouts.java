package org.softrdma.sim.engine;

/**
 * How long an engine waits for peers, in nanoseconds.
 *
 * @param handshakeNs how long a peer may take for its part of the handshake
 * @param lingerNs how long an ended connection waits for the peer to end its side
 * @param hostNs after this time without an answer a host counts as gone; 0 for never
 */
public record EngineTimeouts(long handshakeNs, long lingerNs, long hostNs) {}
