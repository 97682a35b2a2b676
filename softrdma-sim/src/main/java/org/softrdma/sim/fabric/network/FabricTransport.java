package org.softrdma.sim.fabric.network;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.sim.fabric.baton.Group;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.Transport;

/** The transport of a device on the network: its loops are simulated threads. Whoever holds the baton. */
public final class FabricTransport implements Transport {
    private final List<FabricLoop> loops = new ArrayList<>();
    private final OpenCount open;

    /**
     * What a device says of its transport.
     *
     * @param threads number of loops
     * @param hostTimeoutNs how long a peer's host may say nothing; 0 for ever
     */
    public record Options(int threads, long hostTimeoutNs) {}

    /**
     * Loops that have not run yet.
     *
     * @param network the network
     * @param host address of their host
     * @param group threads of their host
     * @param name of the device, for people
     * @param options of the device
     */
    public FabricTransport(Network network, InetAddress host, Group group, String name, Options options) {
        open = new OpenCount(options.hostTimeoutNs());
        for (int i = 0; i < options.threads(); i++) {
            loops.add(new FabricLoop(network, host, group, name + ".rnic" + i, open));
        }
    }

    @Override
    public String name() {
        return "fabric";
    }

    @Override
    public List<EventLoop> loops() {
        return List.copyOf(loops);
    }

    @Override
    public int openSockets() {
        return open.count();
    }

    @Override
    public void close() {
        loops.forEach(FabricLoop::stop);
    }
}
