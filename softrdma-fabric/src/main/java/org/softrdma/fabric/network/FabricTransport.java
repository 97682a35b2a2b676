package org.softrdma.fabric.network;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.fabric.scheduler.Group;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.Transport;

/** A transport on the network: its loops are simulated threads, or one that its owner runs. */
public final class FabricTransport implements Transport {
    private final List<FabricLoop> loops = new ArrayList<>();
    private final OpenCount open;

    /**
     * What its owner says of it.
     *
     * @param threads number of loops with a thread of their own; 0 for one loop that its owner runs
     * @param hostTimeoutNs how long a peer's host may say nothing; 0 for ever
     * @param ring whether sockets receive ahead and send later, as those of io_uring do
     * @param kind of the threads
     */
    public record Options(int threads, long hostTimeoutNs, boolean ring, Group.Kind kind) {}

    /**
     * Loops that have not run yet.
     *
     * @param host address of their host
     * @param group threads of their host
     * @param name of its loops, for people
     * @param options of its owner
     */
    public FabricTransport(Network network, InetAddress host, Group group, String name, Options options) {
        open = new OpenCount(options.hostTimeoutNs());
        for (int i = 0; i < options.threads(); i++) {
            FabricLoop loop = new FabricLoop(network, host, open, options.ring());
            loop.start(group, name + i, options.kind());
            loops.add(loop);
        }
        if (options.threads() == 0) {
            loops.add(new FabricLoop(network, host, open, options.ring()));
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
