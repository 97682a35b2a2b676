package org.softrdma.run.rdmacm;

import java.net.InetAddress;
import java.util.random.RandomGenerator;
import org.softrdma.run.card.Card;
import org.softrdma.sim.roce.wire.Gid;

/**
 * What exchanges with peers have of their run.
 *
 * @param random source of what peers must not be able to guess
 */
record CmEnvironment(Card card, HostAddresses addresses, RdmaCmIds ids, RandomGenerator random) {
    private static final int PSN_BITS = 24;

    /** The first PSN of a connection. */
    int firstPsn() {
        return random.nextInt(1 << PSN_BITS);
    }

    /** The way from an address of this host. */
    GidPath path(InetAddress local, Gid peer, int trafficClass) {
        return new GidPath(Gid.of(local), addresses.index(local).orElse(0), peer, trafficClass);
    }
}
