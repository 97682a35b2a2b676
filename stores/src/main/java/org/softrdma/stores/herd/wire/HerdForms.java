package org.softrdma.stores.herd.wire;

import org.softrdma.stores.Protocol;

/** Makes forms of requests. Stateless. */
public final class HerdForms {
    private HerdForms() {}

    /**
     * A form.
     *
     * @param protocol as published, or mended
     * @param maxKeyLength bytes of the longest key
     * @param maxValueLength bytes of the longest value
     * @param seed of the hash
     */
    public static HerdRequestForm of(Protocol protocol, int maxKeyLength, int maxValueLength, long seed) {
        return protocol == Protocol.PAPER
                ? new HerdClearedForm(maxValueLength, seed)
                : new HerdNumberedForm(maxKeyLength, maxValueLength, seed);
    }

    /**
     * Bytes of the longest value of a request whose slot is as long as a packet at most. The mended form needs no such slots.
     *
     * @param protocol as published, or mended
     * @param packet bytes that a packet carries
     */
    public static int longestValue(Protocol protocol, int packet) {
        return protocol == Protocol.PAPER ? HerdClearedRequestDescriptor.longestValue(packet) : Integer.MAX_VALUE;
    }
}
