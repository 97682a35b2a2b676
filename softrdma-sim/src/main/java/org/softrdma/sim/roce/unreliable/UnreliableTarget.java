package org.softrdma.sim.roce.unreliable;

import org.softrdma.sim.roce.rc.ResponderTarget;

/** What unreliable messages act on, as those of a reliable connection do; but they may end before they are whole. */
public interface UnreliableTarget extends ResponderTarget {
    /** What has come of a message is all that comes: its RECV waits for the next one. */
    void abandonMessage();

    /**
     * The RECV has its datagram, which may raise a solicited event.
     *
     * @param length bytes of the routing header and of the message
     * @param source number of the queue pair that sent it
     * @param immediate the word that came with it
     * @param hasImmediate there is one
     * @param solicited may raise a solicited event
     */
    void completeDatagram(long length, int source, int immediate, boolean hasImmediate, boolean solicited);
}
