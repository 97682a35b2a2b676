package org.softrdma.suites.kv;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/**
 * What goes wrong in a race, by its seed: clients are killed, paused and parted from the server, connections are cut
 * and reset, the server is paused with its RNIC or without. It stays alive: what it has acknowledged must stay true.
 * Immutable.
 *
 * @param seed decides it
 */
record RaceFaults(long seed) {
    static final String SERVER = "server";
    static final List<String> CLIENTS = List.of("reader1", "reader2", "writers", "shared");

    /** Writers most often: a change whose answer is lost is what a history can go wrong by. */
    private static final List<String> TARGETS =
            List.of("reader1", "reader2", "shared", "writers", "writers", "writers");

    private static final int MOST = 3;

    /** Behind the frames of the handshake: a stream that stops for a fault within one cannot be connected at all. */
    private static final int NEAREST_BYTES = 64;

    /** A client sends and gets about so many bytes in a race. */
    private static final int FARTHEST_BYTES = 3000;

    /** From a microsecond to longer than any time limit of a client. */
    private static final int LEAST_PAUSE_BITS = 10;

    private static final int MOST_PAUSE_BITS = 35;

    FaultPlan plan() {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed ^ Long.MIN_VALUE);
        FaultPlan plan = FaultPlan.NONE;
        for (int i = 1 + random.nextInt(MOST); i > 0; i--) {
            plan = plan.and(fault(random));
        }
        return plan;
    }

    private static Fault fault(RandomGenerator random) {
        String client = TARGETS.get(random.nextInt(TARGETS.size()));
        boolean toServer = random.nextBoolean();
        When when = new When.AfterBytes(
                toServer ? client : SERVER, toServer ? SERVER : client, random.nextInt(NEAREST_BYTES, FARTHEST_BYTES));
        return new Fault(when, what(random, client), Fault.ALWAYS, 1 + random.nextInt(2));
    }

    private static What what(RandomGenerator random, String client) {
        long ns = random.nextLong(1L << random.nextInt(LEAST_PAUSE_BITS, MOST_PAUSE_BITS));
        return switch (random.nextInt(10)) {
            case 0 -> new What.Kill(client);
            case 1 -> new What.PowerOff(client);
            case 2 -> new What.Pause(client, 1 + ns, random.nextBoolean());
            case 3 -> new What.Pause(SERVER, 1 + ns, random.nextBoolean());
            case 4 -> new What.Partition(client, SERVER, 1 + ns);
            case 5 -> new What.Stall(1 + ns);
            case 6, 7 -> new What.Cut();
            default -> new What.Reset();
        };
    }
}
