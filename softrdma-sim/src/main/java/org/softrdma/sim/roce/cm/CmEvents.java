package org.softrdma.sim.roce.cm;

import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.PrivateData;

/** What becomes of a connection, for its owner. Raised in the middle of a call of the manager; may call the connection. */
public interface CmEvents {
    /**
     * Active side: the peer has accepted. The owner makes its queue pair ready, then calls {@link CmConnection#ready}, or {@link
     * CmConnection#reject}.
     */
    void replied(ConnectReply reply);

    /** Passive side: the peer knows that its request was accepted. */
    void established();

    /**
     * The connection was not made, and will not be.
     *
     * @param reason of a REJ; {@link org.softrdma.sim.roce.wire.ConnectReject#TIMEOUT} also if the peer does not answer
     * @param data of the peer's application
     */
    void failed(int reason, PrivateData data);

    /** A connection that was established has ended, by either side. */
    void disconnected();

    /** The connection is forgotten, also if it was not made: the number of its queue pair may be used again. */
    void released();
}
