package org.softrdma.sim.carrier;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.RnicEngine;

/**
 * The FPDUs with CRC that have come in part, of all connections of an engine. Nothing of one is placed before its CRC was
 * checked, so up to 64 KiB are kept for each. While they are more than {@link #MOST_BYTES} together, the peer that has been
 * at its FPDU for longest loses its connection, if it has been for longer than a handshake may take.
 *
 * <p>Engine thread only.
 */
final class UnfinishedFpdus {
    private static final long MOST_BYTES = 16L << 20;

    private @Nullable Part oldest;
    private @Nullable Part newest;
    private long bytes;

    /** What a connection keeps: none, or a part of one FPDU. */
    static final class Part {
        private final CarrierEvents events;
        private @Nullable Part older;
        private @Nullable Part newer;
        private long sinceNs;
        private long bytes;
        private boolean stalled;

        /** None. */
        Part(CarrierEvents events) {
            this.events = events;
        }

        /** True if the connection is to end because of it. */
        boolean isStalled() {
            return stalled;
        }
    }

    /** A connection keeps some bytes of an FPDU that it has kept none of before. */
    void begin(RnicEngine engine, Part part, int kept) {
        end(part);
        if (part.stalled) {
            return;
        }
        part.sinceNs = engine.loop().clock().nanoTime();
        part.older = newest;
        if (newest == null) {
            oldest = part;
        } else {
            newest.newer = part;
        }
        newest = part;
        grow(engine, part, kept);
    }

    /** A connection keeps more bytes of the same FPDU. */
    void grow(RnicEngine engine, Part part, int kept) {
        if (part.stalled) {
            return; // it is no longer in the list, and about to end
        }
        bytes += kept - part.bytes;
        part.bytes = kept;
        Part first = oldest;
        if (bytes > MOST_BYTES
                && first != null
                && engine.loop().clock().nanoTime() - first.sinceNs
                        > engine.limits().timeouts().handshakeNs()) {
            end(first);
            first.stalled = true;
            first.events.retryReceive(); // a connection of which nothing more may come
        }
    }

    /** A connection keeps none. */
    void end(Part part) {
        if (part.bytes == 0) {
            return;
        }
        bytes -= part.bytes;
        part.bytes = 0;
        Part before = part.older;
        Part behind = part.newer;
        if (before == null) {
            oldest = behind;
        } else {
            before.newer = behind;
        }
        if (behind == null) {
            newest = before;
        } else {
            behind.older = before;
        }
        part.older = null;
        part.newer = null;
    }
}
