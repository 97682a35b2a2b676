package org.softrdma.sanitiser.finding;

/**
 * Part of a region.
 *
 * @param region its keys, its length and where it was registered, for people
 * @param offset bytes from the start of the region
 * @param length bytes
 */
public record BufferName(String region, long offset, long length) {
    /** For people. */
    @Override
    public String toString() {
        return length + " bytes at offset " + offset + " of " + region;
    }
}
