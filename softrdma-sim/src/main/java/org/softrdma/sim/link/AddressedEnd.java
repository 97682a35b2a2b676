package org.softrdma.sim.link;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;

/**
 * What a wire has for a queue pair that its application connects by addresses, or that sends datagrams to them. No
 * connection manager knows of it.
 *
 * <p>Engine thread only, unless a method says otherwise.
 */
public interface AddressedEnd {
    /** What the queue pair posts to. Any thread. */
    WireConnection connection();

    /**
     * Makes it ready for its peers, once, before anything else; one of datagrams is established by this.
     *
     * @param queuePair attached to the connection
     * @return what peers must know of it
     * @throws IOException if it can have no UDP port
     */
    QueuePairAddress open(QueuePairEnd queuePair) throws IOException;

    /**
     * Goes to another address of this host. Before {@link #readyToReceive}; not of datagrams.
     *
     * @return what peers must know of it, with the same sequence
     * @throws IOException if it can have no UDP port there
     */
    QueuePairAddress useAddress(InetAddress local) throws IOException;

    /**
     * Takes datagrams at another address of this host, too, and sends those whose handle names it from there. Of datagrams;
     * before anything was sent, or after {@link #reset}.
     *
     * @throws IOException if the device has not its UDP port there
     */
    void alsoUseAddress(InetAddress local) throws IOException;

    /**
     * Takes what comes to a multicast group, too, until it ends. Of datagrams.
     *
     * @param locals addresses of this host by whose interfaces it comes
     * @throws IOException if the group cannot be joined
     */
    void join(InetAddress group, List<InetAddress> locals) throws IOException;

    /** Takes it no more; false if it did not. */
    boolean leave(InetAddress group);

    /** Datagrams must carry another key from now on. */
    void queueKey(int queueKey);

    /**
     * Forgets its peer and what was agreed on with it: takes no packets, and sends none. Ends if that fails.
     *
     * @return what peers must know of it if it begins again
     */
    QueuePairAddress reset();

    /** Begins again, after {@link #reset}; one of datagrams is established by this, or ends. */
    void initialise();

    /** Begins no request any more; what was begun goes on, and the queue pair is told once it is complete. */
    void drain();

    /** Begins requests again, after {@link #drain}, or after one of them has failed. */
    void resume();

    /**
     * Takes the peer's packets, or ends if that fails. Not of datagrams.
     *
     * @param attributes a peer of the same family of addresses, and READs within the device's limit
     */
    void readyToReceive(ReceiveAttributes attributes);

    /**
     * Sends what is posted, or ends if that fails; after {@link #readyToReceive}, or again once it is drained.
     *
     * @param attributes READs within the device's limit
     */
    void readyToSend(SendAttributes attributes);

    /**
     * Goes on with its peer by other terms, also with what is on its way; of a connection, after {@link #readyToSend}.
     *
     * @param receives as of {@link #readyToReceive}; the peer keeps its number and its sequence
     * @param sends as of {@link #readyToSend}, without a sequence
     */
    void change(ReceiveAttributes receives, SendAttributes sends);

    /**
     * Refuses a handle by which it cannot send. Any thread.
     *
     * @param host where a datagram is to go
     * @param domain of the queue pair
     * @throws IllegalArgumentException if it is no handle of this domain
     * @throws IllegalStateException if it is closed
     */
    void checkDestination(AddressHandle host, ProtectionDomain domain);
}
