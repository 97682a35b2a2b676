package org.softrdma.sim.link;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;

/** A peer's request for a connection, which is accepted or rejected once. Any thread. */
public interface PeerRequest {
    /** The connection, for the queue pair. */
    WireConnection connection();

    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /** What the peer has sent with it. */
    byte[] privateData();

    /** READs that the peer wants in flight; empty if it does not say. */
    OptionalInt outboundReads();

    /** READs in flight that the peer accepts; empty if it does not say. */
    OptionalInt inboundReads();

    /**
     * Accepts. The queue pair takes requests once the result is complete. A failure is a {@link VerbsException}.
     *
     * @param queuePair attached to the connection
     * @param parameters what this side wants, within the device's limits
     */
    CompletableFuture<Void> accept(QueuePairEnd queuePair, ConnectionParameters parameters);

    /**
     * Rejects.
     *
     * @param privateData sent to the peer, to say why
     * @return false if this request was already decided
     */
    boolean reject(byte[] privateData);
}
