package org.softrdma.verbs;

/** What to do about memory that will be used soon (C: {@code IBV_ADVISE_MR_ADVICE_*}). */
public enum Advice {
    /** Pin it, for reading. */
    PREFETCH,
    /** Pin it, for writing. The region must allow the device to write. */
    PREFETCH_WRITE,
    /** Pin the pages that are in memory, and the others when they come in. Reads nothing from a disk. */
    PREFETCH_NO_FAULT
}
