package org.softrdma.stores.nessie;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.sim.fabric.fault.Fault;
import org.softrdma.sim.fabric.fault.FaultPlan;
import org.softrdma.sim.fabric.fault.What;
import org.softrdma.sim.fabric.fault.When;

/**
 * What goes wrong in a race, by its seed: clients are killed, paused and parted from nodes, connections are cut,
 * stalled and reset, nodes are paused with their RNIC or without. Immutable.
 */
record NessieRaceFaults(long seed, int nodes) {
    static final List<String> CLIENTS = List.of("reader1", "reader2", "writer1", "writer2", "writer3");

    private static final int MOST = 3;

    /** Behind the handshake. */
    private static final int NEAREST_BYTES = 300;

    private static final int FARTHEST_BYTES = 4000;
    private static final int LEAST_PAUSE_BITS = 10;
    private static final int MOST_PAUSE_BITS = 33;

    FaultPlan plan() {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed ^ Long.MIN_VALUE);
        FaultPlan plan = FaultPlan.NONE;
        for (int i = 1 + random.nextInt(MOST); i > 0; i--) {
            plan = plan.and(fault(random));
        }
        return plan;
    }

    private Fault fault(RandomGenerator random) {
        String client = CLIENTS.get(random.nextInt(CLIENTS.size()));
        String server = NessieNodes.name(random.nextInt(nodes));
        boolean toServer = random.nextBoolean();
        When when = new When.AfterBytes(
                toServer ? client : server, toServer ? server : client, random.nextInt(NEAREST_BYTES, FARTHEST_BYTES));
        return new Fault(when, what(random, client, server), Fault.ALWAYS, 1 + random.nextInt(2));
    }

    private static What what(RandomGenerator random, String client, String server) {
        long ns = 1 + random.nextLong(1L << random.nextInt(LEAST_PAUSE_BITS, MOST_PAUSE_BITS));
        return switch (random.nextInt(11)) {
            case 0, 1 -> new What.Kill(client);
            case 2 -> new What.PowerOff(client);
            case 3, 4 -> new What.Pause(client, ns, random.nextBoolean());
            case 5 -> new What.Pause(server, ns, random.nextBoolean());
            case 6 -> new What.Partition(client, server, ns);
            case 7 -> new What.Stall(ns);
            case 8, 9 -> new What.Cut();
            default -> new What.Reset();
        };
    }
}
