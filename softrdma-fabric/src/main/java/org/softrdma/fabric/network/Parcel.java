package org.softrdma.fabric.network;

/**
 * Something on its way in one direction of a connection: bytes of the ring, or what comes behind the last. Whoever
 * holds the baton.
 */
final class Parcel {
    final Kind kind;
    int bytes;
    long dueNs;

    /** What is on its way. */
    enum Kind {
        BYTES,
        END,
        RESET
    }

    Parcel(Kind kind, int bytes, long dueNs) {
        this.kind = kind;
        this.bytes = bytes;
        this.dueNs = dueNs;
    }
}
