package org.softrdma.sim.memory;

/**
 * What a valid row of the stag table says to peers.
 *
 * @param rkey its key
 * @param domain protection domain
 * @param rights {@link AccessRights}
 * @param base first address as peers name it
 * @param length bytes
 * @param rawAddress of its memory
 */
public record RowContent(int rkey, int domain, int rights, long base, long length, long rawAddress) {}
