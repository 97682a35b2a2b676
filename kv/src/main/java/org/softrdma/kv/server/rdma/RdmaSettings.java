package org.softrdma.kv.server.rdma;

import java.net.InetAddress;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * What the owner of the server has said about queue pairs.
 *
 * @param addresses where they are connected, at least one; {@code ::} comes with no IPv4 address
 * @param port the port of all addresses; 0 picks a free one
 * @param ipv6Only if IPv4 is not meant by the address {@code ::}
 * @param maxSessions how many there may be, those of strangers not counted
 * @param helloTimeoutNs how long a token is good, in nanoseconds
 * @param answerTimeoutNs how long a client may leave its answers, in nanoseconds
 * @param random where tokens come from; nobody else knows its numbers
 */
public record RdmaSettings(
        List<InetAddress> addresses,
        int port,
        boolean ipv6Only,
        int maxSessions,
        long helloTimeoutNs,
        long answerTimeoutNs,
        RandomGenerator random) {
    /** Somebody must be able to come. */
    public RdmaSettings {
        addresses = List.copyOf(addresses);
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("expected at least one address for queue pairs");
        }
    }
}
