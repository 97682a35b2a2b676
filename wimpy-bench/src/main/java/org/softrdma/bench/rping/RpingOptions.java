package org.softrdma.bench.rping;

/**
 * What both ends of a ping are told, named as rping's options.
 *
 * @param size bytes of a ping, {@code -S}; the server's must be at least the client's
 * @param count pings of a client, {@code -C}; 0 for no end
 * @param verbose print the text of each ping, {@code -v}
 * @param validate compare each ping with what it should be, {@code -V}
 * @param debug print each step, {@code -d}
 */
public record RpingOptions(int size, int count, boolean verbose, boolean validate, boolean debug) {
    /** The shortest ping: rping's smallest, room for the heading with any number. */
    public static final int MIN_SIZE = 26;

    /** The longest ping: rping's largest. */
    public static final int MAX_SIZE = (1 << 16) - 1;

    /** Bytes of a ping unless told otherwise. */
    public static final int DEFAULT_SIZE = 64;

    /** Where rping listens unless told otherwise. */
    public static final int DEFAULT_PORT = 7174;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming every option that is out of its range
     */
    public RpingOptions {
        String faults = "";
        if (size < MIN_SIZE || size > MAX_SIZE) {
            faults = "-S " + size + ": expected " + MIN_SIZE + " to " + MAX_SIZE + " bytes";
        }
        if (count < 0) {
            faults += (faults.isEmpty() ? "" : "; ") + "-C " + count + ": expected at least 1, or 0 for no end";
        }
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(faults);
        }
    }
}
