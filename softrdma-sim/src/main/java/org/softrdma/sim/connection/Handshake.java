package org.softrdma.sim.connection;

import java.io.IOException;

/** A handshake, as its connection sees it. Engine thread only. */
interface Handshake {
    /**
     * The socket may be readable or writable, or an outgoing connection has an outcome.
     *
     * @param writable there is room, or an outcome
     * @throws IOException if the connection broke; {@link #failed} follows
     */
    void ready(boolean writable) throws IOException;

    /** The connection broke before the stream began. */
    void failed(IOException cause);

    /** The first segment of the stream has arrived. */
    void firstSegment();

    /** The stream has ended, perhaps during its setup. */
    void streamEnded(String reason);
}
