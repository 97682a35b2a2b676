package org.softrdma.sim.pinning;

/**
 * Pages of a region.
 *
 * @param from the first, in pages from address 0
 * @param to behind the last
 */
public record PageRange(long from, long to) {
    long bytes(int pageShift) {
        return (to - from) << pageShift;
    }
}
