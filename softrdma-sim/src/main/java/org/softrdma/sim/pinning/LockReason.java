package org.softrdma.sim.pinning;

/** Why pages are locked. */
enum LockReason {
    /** They are used now, or soon. */
    USE,
    /** They will be used; those that are not resident are locked when they become so. */
    USE_ON_FAULT,
    /** They belong to an EAGER region, and stay locked as long as it lives, whatever the budget. */
    EAGER
}
