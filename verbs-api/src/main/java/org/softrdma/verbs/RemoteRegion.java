package org.softrdma.verbs;

/**
 * What a peer needs to reach a region. Send it to the peer in a message of your own.
 *
 * @param address first address
 * @param length bytes
 * @param rkey remote key
 */
public record RemoteRegion(long address, long length, int rkey) {}
