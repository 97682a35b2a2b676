package org.softrdma.sim.capture;

import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The sockets for datagrams of a capture. Any event loop of the transport. */
final class CapturedDatagramSockets {
    private final Set<InetSocketAddress> addresses = ConcurrentHashMap.newKeySet();

    /** One was opened. */
    void opened(InetSocketAddress local) {
        boolean ignored = addresses.add(local);
    }

    /** One was closed. What it has sent and has not arrived yet is written once more. */
    void closed(InetSocketAddress local) {
        boolean ignored = addresses.remove(local);
    }

    /** True if what comes from there is in the file already. */
    boolean contains(InetSocketAddress peer) {
        return addresses.contains(peer);
    }
}
