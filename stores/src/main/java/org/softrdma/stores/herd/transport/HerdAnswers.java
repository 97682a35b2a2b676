package org.softrdma.stores.herd.transport;

/** How answers come to a client. */
public enum HerdAnswers {
    /** By SEND, into the buffer of a RECV: HERD. */
    SENT,
    /** By WRITE, into an answer slot that the client polls: NessieSD. Requests have numbers. */
    WRITTEN
}
