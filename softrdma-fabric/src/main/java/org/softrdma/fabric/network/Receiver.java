package org.softrdma.fabric.network;

/** The end of a connection at which one of its directions arrives. */
interface Receiver {
    /** Bytes, the end or a reset are there. */
    void arrived();

    /** The network resets the connection: both ends learn it at once. */
    void resetByNetwork();

    /** The network cuts the stream that arrives here, behind all that was sent: the other end learns it later. */
    void cutByNetwork();

    /** Nobody receives here any more. */
    boolean isClosed();
}
