package org.softrdma.farm.store;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.sim.fabric.fault.Fault;
import org.softrdma.sim.fabric.fault.FaultPlan;
import org.softrdma.sim.fabric.fault.What;
import org.softrdma.sim.fabric.fault.When;

/**
 * What goes wrong in a race, by its seed: clients die, stand still and are parted from the server, connections end, the
 * server stands still with its RNIC or without. Immutable.
 *
 * @param seed decides it
 * @param clients names of their nodes
 */
record RaceFaultPlan(long seed, List<String> clients) {
    private static final int MOST = 3;
    /** Behind the frames of the handshake. */
    private static final int NEAREST_BYTES = 64;

    private static final int FARTHEST_BYTES = 4000;
    private static final int LEAST_PAUSE_BITS = 10;
    private static final int MOST_PAUSE_BITS = 33;

    RaceFaultPlan {
        clients = List.copyOf(clients);
    }

    FaultPlan plan() {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed ^ Long.MIN_VALUE);
        FaultPlan plan = FaultPlan.NONE;
        for (int i = 1 + random.nextInt(MOST); i > 0; i--) {
            plan = plan.and(fault(random));
        }
        return plan;
    }

    private Fault fault(RandomGenerator random) {
        String client = clients.get(random.nextInt(clients.size()));
        boolean toServer = random.nextBoolean();
        When when = new When.AfterBytes(
                toServer ? client : FarmFabric.SERVER,
                toServer ? FarmFabric.SERVER : client,
                random.nextInt(NEAREST_BYTES, FARTHEST_BYTES));
        return new Fault(when, what(random, client), Fault.ALWAYS, 1 + random.nextInt(2));
    }

    private static What what(RandomGenerator random, String client) {
        long ns = 1 + random.nextLong(1L << random.nextInt(LEAST_PAUSE_BITS, MOST_PAUSE_BITS));
        return switch (random.nextInt(10)) {
            case 0 -> new What.Kill(client);
            case 1 -> new What.PowerOff(client);
            case 2 -> new What.Pause(client, ns, random.nextBoolean());
            case 3 -> new What.Pause(FarmFabric.SERVER, ns, random.nextBoolean());
            case 4 -> new What.Partition(client, FarmFabric.SERVER, ns);
            case 5 -> new What.Stall(ns);
            case 6, 7 -> new What.Cut();
            default -> new What.Reset();
        };
    }
}
