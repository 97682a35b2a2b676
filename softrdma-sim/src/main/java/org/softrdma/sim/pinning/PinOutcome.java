package org.softrdma.sim.pinning;

/**
 * Outcome of an attempt to pin pages.
 *
 * @param reason why they are not pinned; {@link Reason#NONE} if they are
 * @param errno the kernel's error number, if it refused
 */
record PinOutcome(Reason reason, int errno) {
    static final PinOutcome PINNED = new PinOutcome(Reason.NONE, PageLocks.OK);
    static final PinOutcome NO_ROOM = new PinOutcome(Reason.NO_ROOM, PageLocks.OK);
    static final PinOutcome WAIT = new PinOutcome(Reason.WAIT, PageLocks.OK);
    static final PinOutcome GONE = new PinOutcome(Reason.GONE, PageLocks.OK);

    /** Why pages are not pinned. */
    enum Reason {
        /** They are pinned. */
        NONE,
        /** Nothing more can be evicted. */
        NO_ROOM,
        /** There will be room when the current batches have ended. */
        WAIT,
        /** The region has ended. */
        GONE,
        /** The kernel refused. */
        REFUSED
    }

    /** The outcome of a lock call. */
    static PinOutcome of(int errno) {
        return errno == PageLocks.OK ? PINNED : new PinOutcome(Reason.REFUSED, errno);
    }

    boolean isPinned() {
        return reason == Reason.NONE;
    }
}
