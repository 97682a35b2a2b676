package org.softrdma.fabric.memory;

/**
 * How a device's copies from and to registered memory can be seen by others: in grains, any of which may be there
 * before any other. A device promises nothing else about the memory of an application that does not wait for a
 * completion (RFC 5040 section 5.5), but for polled memory.
 *
 * @param bytes of a grain, aligned by their address; 0 if a copy happens at once
 */
public record Grains(int bytes) {
    /** Copies happen at once. */
    public static final Grains NONE = new Grains(0);

    /** A machine's word. */
    public static final Grains WORDS = new Grains(8);

    /** A line of a cache. */
    public static final Grains LINES = new Grains(64);

    /** Checks. */
    public Grains {
        if (bytes != 0 && (bytes < 1 || bytes > 4096 || Integer.bitCount(bytes) != 1)) {
            throw new IllegalArgumentException("bytes=" + bytes + ": expected 0 or a power of two up to 4096");
        }
    }
}
