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
}
