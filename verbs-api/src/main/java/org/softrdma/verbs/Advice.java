package org.softrdma.verbs;

/** What is to be done about memory that will be used soon (C: {@code IBV_ADVISE_MR_ADVICE_*}). */
public enum Advice {
    /** Pin it, for reading. */
    PREFETCH,
    /** Pin it, for writing; the region must allow the device to write. */
    PREFETCH_WRITE,
    /** Pin what is in memory already, and the rest as it comes in; reads nothing from a disk. */
    PREFETCH_NO_FAULT
}
