package org.softrdma.farm.message;

/** What messages ask for. Their order is part of the protocol. */
public enum NodeMessageKind {
    /** {u32 region}: what to READ of it. Result: {u64 address, u64 length, u32 rkey, u32 0}. */
    CAPABILITY,
    /** {u64 hint, u32 length, u32 0}: room for an object. Result: {u64 address, u64 version, u64 incarnation}. */
    ALLOCATE
}
