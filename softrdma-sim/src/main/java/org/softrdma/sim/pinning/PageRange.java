package org.softrdma.sim.pinning;

/**
 * A range of pages.
 *
 * @param from the first, in pages from address 0
 * @param to behind the last
 */
public record PageRange(long from, long to) {}
