package org.softrdma.farm.message;

/** What messages ask for. Their order is part of the protocol. */
public enum NodeMessageKind {
    /** {u32 region}: what to READ of it. Result: {u64 address, u64 length, u32 rkey, u32 0}. */
    CAPABILITY,
    /** {u64 hint, u32 length, u32 0}: room for an object. Result: {u64 address, u64 version, u64 incarnation}. */
    ALLOCATE,
    /** What a transaction writes here: lock it as primary, keep it as replica. */
    PREPARE,
    /** Versions that a transaction has read: are they the same, and not locked? */
    VALIDATE,
    /** A transaction is committed: write what was prepared as primary, and unlock. */
    COMMIT_PRIMARY,
    /** A transaction is aborted: unlock. */
    ABORT,
    /** A transaction is committed: write what was prepared as replica. */
    COMMIT_REPLICA,
    /** A transaction of one machine is committed: write all of it, as replica. */
    RECORD,
    /** A transaction of which the receiver is the primary of everything: commit it, if what it has read is as it was. */
    SHIP,
    /** A function of an object that the receiver serves: run it, as a transaction. Result: {u64 what it returned}. */
    RUN,
    /** What the sender has of a transaction of an older epoch; with no region, that this was all. */
    IN_DOUBT,
    /** A transaction of an older epoch is decided: write or forget it, as replica. */
    DECIDE_REPLICA,
    /** A transaction of an older epoch is decided: write it or not, as primary, and unlock. */
    DECIDE_PRIMARY,
    /** All transactions of older epochs that the sender had to decide are over. */
    RECOVERED,
    /** {u32 region, u32 0, u64 from}: objects of it, for a copy. Result: {u64 next, u32 slot, u32 count, objects}. */
    COPY
}
