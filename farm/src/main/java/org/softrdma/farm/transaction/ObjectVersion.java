package org.softrdma.farm.transaction;

/**
 * An object that a transaction has read.
 *
 * @param address of the object
 * @param version that it had
 */
public record ObjectVersion(long address, long version) {}
