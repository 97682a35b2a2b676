package org.softrdma.stores.herd;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.sim.fabric.fault.Fault;
import org.softrdma.sim.fabric.fault.FaultPlan;
import org.softrdma.sim.fabric.fault.What;
import org.softrdma.sim.fabric.fault.When;

/**
 * What goes wrong in a race, by its seed: requests and answers are delayed, connections cut, stalled and reset, clients
 * killed, paused and parted from the server, the server paused with its RNIC or without. Immutable.
 */
record HerdRaceFaults(long seed) {
    static final String SERVER = "server";
    static final List<String> CLIENTS = List.of("client1", "client2", "client3", "client4");

    private static final int MOST = 4;

    /** Behind the handshake. */
    private static final int NEAREST_BYTES = 250;

    private static final int FARTHEST_BYTES = 3000;
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

    private static Fault fault(RandomGenerator random) {
        String client = CLIENTS.get(random.nextInt(CLIENTS.size()));
        boolean toServer = random.nextBoolean();
        When when = new When.AfterBytes(
                toServer ? client : SERVER, toServer ? SERVER : client, random.nextInt(NEAREST_BYTES, FARTHEST_BYTES));
        return new Fault(when, what(random, client), Fault.ALWAYS, 1 + random.nextInt(2));
    }

    private static What what(RandomGenerator random, String client) {
        long ns = 1 + random.nextLong(1L << random.nextInt(LEAST_PAUSE_BITS, MOST_PAUSE_BITS));
        return switch (random.nextInt(12)) {
            case 0 -> new What.Kill(client);
            case 1 -> new What.PowerOff(client);
            case 2 -> new What.Pause(client, ns, random.nextBoolean());
            case 3 -> new What.Pause(SERVER, ns, random.nextBoolean());
            case 4 -> new What.Partition(client, SERVER, ns);
            case 5 -> new What.Stall(ns);
            case 6, 7 -> new What.Delay(ns);
            case 8, 9 -> new What.Cut();
            default -> new What.Reset();
        };
    }
}
