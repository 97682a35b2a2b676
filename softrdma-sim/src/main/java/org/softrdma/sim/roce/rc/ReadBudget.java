package org.softrdma.sim.roce.rc;

import org.jspecify.annotations.Nullable;

/**
 * What answers to READs of all connections of a port may be on their way to it, so that they find room in its socket's
 * receive buffer. Who finds no room waits in a line: nobody passes anybody, and whoever is first goes once there is room, or
 * nothing on its way. So a large READ waits for no more than what was asked for before it. Engine thread only.
 */
public final class ReadBudget {
    /** What a datagram costs the kernel beside its payload, of which it may use twice the room. */
    private static final int PACKET_BYTES = 1024;

    private final long totalBytes;
    private long usedBytes;
    private @Nullable Share first;
    private @Nullable Share last;

    /**
     * A budget of which nothing is used.
     *
     * @param totalBytes as the kernel counts them
     */
    public ReadBudget(long totalBytes) {
        this.totalBytes = totalBytes;
    }

    /**
     * The part of a connection.
     *
     * @param mayRead called when it waits and its turn has come; as often as it has come
     */
    public Share share(Runnable mayRead) {
        return new Share(mayRead);
    }

    /** What a full packet costs a socket's buffer. */
    public static long cost(int transferUnit) {
        return Share.cost(transferUnit, 1);
    }

    /** What is on its way, for tests. */
    long usedBytes() {
        return usedBytes;
    }

    private boolean hasRoom(long bytes) {
        return usedBytes == 0 || usedBytes + bytes <= totalBytes;
    }

    private void callFirst() {
        Share next = first;
        if (next != null && hasRoom(next.wantedBytes)) {
            next.mayRead.run();
        }
    }

    /** What one connection has on its way, and its place in the line. */
    public final class Share {
        private final Runnable mayRead;
        private long heldBytes;
        private long wantedBytes;
        private boolean waits;
        private @Nullable Share before;
        private @Nullable Share behind;

        private Share(Runnable mayRead) {
            this.mayRead = mayRead;
        }

        /** What an answer of so many bytes and packets costs. */
        static long cost(long bytes, int packets) {
            return 2 * bytes + (long) packets * PACKET_BYTES;
        }

        /** True if an answer may be asked for; {@link #take} follows. Else this connection waits. */
        boolean admits(long bytes) {
            if ((first == null || first == this) && hasRoom(bytes)) {
                return true;
            }
            wantedBytes = bytes;
            if (!waits) {
                waits = true;
                before = last;
                if (last == null) {
                    first = this;
                } else {
                    last.behind = this;
                }
                last = this;
            }
            return false;
        }

        /** True if this connection waits for its turn. */
        boolean waits() {
            return waits;
        }

        /** An answer was asked for. */
        void take(long bytes) {
            heldBytes += bytes;
            usedBytes += bytes;
            leaveLine();
            callFirst();
        }

        /** A packet of an answer has come. */
        void give(long bytes) {
            long given = Math.min(bytes, heldBytes);
            heldBytes -= given;
            usedBytes -= given;
            callFirst();
        }

        /** Nothing is on its way any more, or it is asked for again; and this connection does not wait. */
        void giveAll() {
            usedBytes -= heldBytes;
            heldBytes = 0;
            leaveLine();
            callFirst();
        }

        private void leaveLine() {
            if (!waits) {
                return;
            }
            waits = false;
            if (before == null) {
                first = behind;
            } else {
                before.behind = behind;
            }
            if (behind == null) {
                last = before;
            } else {
                behind.before = before;
            }
            before = null;
            behind = null;
        }
    }
}
