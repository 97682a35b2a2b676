package org.softrdma.run.card;

import java.util.HashMap;
import java.util.Map;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.NumberedPort;

/**
 * UDP ports of peers' queue pairs. A program knows a GID and a number: the number names the port ({@link NumberedPort}), unless the
 * connection manager has heard of the queue pair from another one, which a software RNIC that only connects has.
 */
public final class PeerPorts {
    private final Map<Peer, Heard> heard = new HashMap<>();

    PeerPorts() {}

    private record Peer(Gid address, int number) {}

    private record Heard(int port, Object by) {}

    /** The UDP port of a queue pair. */
    public int of(Gid address, int number) {
        Heard known = heard.get(new Peer(address, number));
        return known == null ? NumberedPort.of(number) : known.port;
    }

    /**
     * The connection manager has heard of a queue pair.
     *
     * @param by whom, who forgets it
     */
    public void add(Object by, Gid address, int number, int port) {
        heard.put(new Peer(address, number), new Heard(port, by));
    }

    /** Whoever has heard of it has no more to do with it. */
    public void forget(Object by) {
        heard.values().removeIf(each -> each.by == by);
    }
}
