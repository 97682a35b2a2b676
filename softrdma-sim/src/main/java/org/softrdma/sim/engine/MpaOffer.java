package org.softrdma.sim.engine;

/**
 * What an engine asks for in the MPA handshake.
 *
 * @param crc CRC32C on every connection
 * @param revision 1 or 2, of requests sent
 */
public record MpaOffer(boolean crc, int revision) {}
