package org.softrdma.sim.link;

import java.net.InetSocketAddress;
import org.softrdma.verbs.cm.DatagramService;

/** A peer's question where the datagrams of a service go, which is answered once. Any thread. */
public interface PeerQuestion {
    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /** What the peer has sent with it. */
    byte[] privateData();

    /**
     * Tells the peer where they go.
     *
     * @param offered number, queue key and private data
     * @return false if this question was already answered
     */
    boolean accept(DatagramService offered);

    /**
     * Refuses.
     *
     * @param privateData sent to the peer, to say why
     * @return false if this question was already answered
     */
    boolean reject(byte[] privateData);
}
