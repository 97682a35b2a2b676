package org.softrdma.net.uring;

/** What a descriptor may hold that its port has not received, and whether an event will tell of it. */
enum InputLeft {
    /** Only what an event will tell of: a plain call has found the descriptor empty, or the ring receives from it. */
    TOLD,
    /**
     * Perhaps bytes that no event will tell of: an edge was raised, and no plain call has found the descriptor empty since.
     * Fewer bytes than asked for say nothing if they had come ahead.
     */
    UNTOLD,
    /** The peer sends no more, or the connection is broken: plain calls find out which. */
    HUNG_UP,
    /** The stream ends behind what came ahead. */
    ENDED,
    /** Receiving fails behind what came ahead. */
    FAILED;

    /** An edge was raised. */
    InputLeft edge() {
        return this == TOLD ? UNTOLD : this;
    }

    /** A plain call has found the descriptor empty, or the ring begins to receive from it. */
    InputLeft looked() {
        return this == UNTOLD ? TOLD : this;
    }

    /** An edge was raised that is the last one. */
    InputLeft hungUp() {
        return this == TOLD || this == UNTOLD ? HUNG_UP : this;
    }

    /** The ring has received the end. */
    InputLeft ended() {
        return this == FAILED ? FAILED : ENDED;
    }

    /** True until the stream has ended in some way. */
    boolean isOpen() {
        return this == TOLD || this == UNTOLD;
    }

    /** True if the ring knows the outcome; else plain calls find it. */
    boolean isOver() {
        return this == ENDED || this == FAILED;
    }
}
