package org.softrdma.stores.herd;

/** Where a worker is in a request; for {@link org.softrdma.stores.MemorySteps}. */
enum HerdStep {
    /** The request is copied. */
    TAKEN,
    /** It is executed. */
    EXECUTED,
    /** Its answer is sent. */
    ANSWERED
}
