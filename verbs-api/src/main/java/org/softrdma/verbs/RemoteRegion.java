package org.softrdma.verbs;

/**
 * What a peer needs to reach a region; sent to it in a message.
 *
 * @param address first address
 * @param length bytes
 * @param rkey remote key
 */
public record RemoteRegion(long address, long length, int rkey) {}
