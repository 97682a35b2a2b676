package org.softrdma.farm.message;

/** What messages ask for. Their order is part of the protocol. */
public enum NodeMessageKind {
    /** {u32 region}: what to READ of it. Result: {u64 address, u64 length, u32 rkey, u32 0}. */
    CAPABILITY,
    /** {u64 hint, u32 length, u32 0}: room for an object. Result: {u64 address, u64 version, u64 incarnation}. */
    ALLOCATE,
    /** What a transaction writes here: lock it. */
    PREPARE,
    /** Versions that a transaction has read: are they the same, and not locked? */
    VALIDATE,
    /** A transaction is committed: write, and unlock. */
    COMMIT_PRIMARY,
    /** A transaction is aborted: unlock. */
    ABORT
}
