package org.softrdma.net.uring;

/**
 * The poll for room to send, which raises an event for each edge, and whether the owner waits for one.
 *
 * <pre>
 *                   the owner waits    there is room      the turn is over    the request is over
 *   OFF             WAITED, armed      -                  -                   -
 *   DUE             -                  -                  WAITED, armed       -
 *   WAITED          -                  SPARE, told        -                   DUE
 *   SPARE           WAITED             SEEN               ENDING, cancelled   OFF
 *   SEEN            SPARE, told        -                  ENDING, cancelled   OFF
 *   ENDING          ENDING_WAITED      -                  -                   OFF
 *   ENDING_WAITED   -                  ENDING, told       -                   DUE
 * </pre>
 *
 * By edges, because the kernel adds POLLRDHUP to what a poll asks for: one that is over with its first event would be over
 * at once, again and again, while a peer that sends no more does not read. Cancelled when nobody waits, because each
 * request of a peer would raise an edge otherwise.
 */
enum RoomPoll {
    /** Not armed. */
    OFF,
    /** Not armed, but the owner waits. */
    DUE,
    /** Armed, and the owner waits. */
    WAITED,
    /** Armed, and nobody waits. */
    SPARE,
    /** Armed, and nobody waits, but an edge was raised: no other one tells of the same room. */
    SEEN,
    /** Being cancelled. */
    ENDING,
    /** Being cancelled, but the owner waits again. */
    ENDING_WAITED;

    /** The owner waits. Whoever calls this arms the request that was {@link #OFF}, and tells what was {@link #SEEN}. */
    RoomPoll await() {
        return switch (this) {
            case OFF, SPARE -> WAITED;
            case SEEN -> SPARE;
            case ENDING -> ENDING_WAITED;
            case DUE, WAITED, ENDING_WAITED -> this;
        };
    }

    /** There is room, or the connection is broken. Whoever calls this tells the owner if it {@link #isAwaited waits}. */
    RoomPoll room() {
        return switch (this) {
            case WAITED -> SPARE;
            case SPARE -> SEEN;
            case ENDING_WAITED -> ENDING;
            case OFF, DUE, SEEN, ENDING -> this;
        };
    }

    /** The turn is over. Whoever calls this arms the request that was {@link #DUE}, and cancels one that ends. */
    RoomPoll turnOver() {
        return switch (this) {
            case DUE -> WAITED;
            case SPARE, SEEN -> ENDING;
            case OFF, WAITED, ENDING, ENDING_WAITED -> this;
        };
    }

    /** The request is over. */
    RoomPoll over() {
        return isAwaited() ? DUE : OFF;
    }

    /** True if the owner waits. */
    boolean isAwaited() {
        return this == DUE || this == WAITED || this == ENDING_WAITED;
    }

    /** True while the request is in the kernel. */
    boolean isArmed() {
        return this != OFF && this != DUE;
    }
}
