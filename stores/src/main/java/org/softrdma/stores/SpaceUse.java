package org.softrdma.stores;

/**
 * How much a server holds.
 *
 * @param pairs number of pairs stored
 * @param dataBytes bytes of their keys and values
 * @param usedBytes bytes of registered memory in use for them, including all overhead
 * @param registeredBytes bytes of registered memory, used or not
 */
public record SpaceUse(long pairs, long dataBytes, long usedBytes, long registeredBytes) {}
