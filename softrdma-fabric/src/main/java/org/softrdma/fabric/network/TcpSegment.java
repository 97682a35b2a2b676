package org.softrdma.fabric.network;

/**
 * One segment in flight in one direction of a connection: a run of bytes of the ring, the end of the stream (FIN), or a
 * reset (RST).
 */
final class TcpSegment {
    final Kind kind;
    int bytes;
    long dueNs;

    /** What is on its way. */
    enum Kind {
        BYTES,
        END,
        RESET
    }

    TcpSegment(Kind kind, int bytes, long dueNs) {
        this.kind = kind;
        this.bytes = bytes;
        this.dueNs = dueNs;
    }
}
