package org.softrdma.fabric.network;

import java.util.OptionalLong;

/** The end of a connection that sends into one of its directions. */
interface Sender {
    /** The direction takes bytes again. */
    void roomMade();

    /**
     * The wrId of a request whose message is being sent, by its number on the connection, from 0; empty if it has none.
     */
    OptionalLong wrId(long request);
}
