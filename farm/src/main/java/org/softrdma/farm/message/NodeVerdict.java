package org.softrdma.farm.message;

/** What an answer says. Their order is part of the protocol. */
public enum NodeVerdict {
    /** No answer. */
    NONE,
    /** Done. */
    DONE,
    /** An object has another version. */
    OTHER_VERSION,
    /** An object is locked. */
    LOCKED,
    /** Not now. */
    NOT_READY,
    /** The request is of an older epoch than the receiver's. */
    OLDER_EPOCH,
    /** The request is of a newer epoch than the receiver's. */
    NEWER_EPOCH,
    /** It cannot be done. */
    REFUSED,
    /** Nobody knows what comes of it before the next epoch. */
    UNDECIDED
}
