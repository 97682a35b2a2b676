package org.softrdma.fabric.network;

/**
 * One item in flight in one direction of a connection: a run of bytes of the ring, the end of the stream, or a reset.
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
