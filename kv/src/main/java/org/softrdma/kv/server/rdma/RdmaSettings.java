package org.softrdma.kv.server.rdma;

import java.net.InetSocketAddress;
import java.util.random.RandomGenerator;

/**
 * What the owner of the server has said about queue pairs.
 *
 * @param address where they are connected; port 0 picks a free one
 * @param ipv6Only if IPv4 is not meant by the address {@code ::}
 * @param maxSessions how many there may be, those of strangers not counted
 * @param helloTimeoutNs how long a token is good, in nanoseconds
 * @param answerTimeoutNs how long a client may leave its answers, in nanoseconds
 * @param random where tokens come from; nobody else knows its numbers
 */
public record RdmaSettings(
        InetSocketAddress address,
        boolean ipv6Only,
        int maxSessions,
        long helloTimeoutNs,
        long answerTimeoutNs,
        RandomGenerator random) {}
