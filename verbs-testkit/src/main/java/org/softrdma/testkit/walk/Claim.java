package org.softrdma.testkit.walk;

/**
 * Part of a buffer that a request under way reads or writes. While it lasts, nobody else may write there, and if it
 * writes nobody may read. The walk's thread.
 *
 * @param region by which the request names it
 * @param from first byte
 * @param to behind the last byte
 * @param writes what the request does there
 * @param request which
 */
record Claim(WalkRegion region, int from, int to, boolean writes, WalkRequest request) {
    WalkBuffer buffer() {
        return region.buffer();
    }

    boolean overlaps(int otherFrom, int otherTo) {
        return from < otherTo && otherFrom < to;
    }
}
