package org.softrdma.stores;

/**
 * How much a server holds.
 *
 * @param pairs pairs that are there
 * @param dataBytes bytes of their keys and values
 * @param usedBytes bytes of registered memory that hold them, with all that they need
 * @param registeredBytes bytes of registered memory, used or not
 */
public record SpaceUse(long pairs, long dataBytes, long usedBytes, long registeredBytes) {}
