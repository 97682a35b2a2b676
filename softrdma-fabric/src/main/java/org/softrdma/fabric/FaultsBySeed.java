package org.softrdma.fabric;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/**
 * What goes wrong between clients and servers, by a seed: a few faults, each after some bytes of a connection between a
 * client and a server, in one direction. Immutable.
 *
 * @param clients names of nodes
 * @param servers names of nodes; one is drawn for each fault if there are several
 * @param most faults of a plan; there is at least one
 * @param nearestBytes fewest bytes before a fault, for example those of the handshake
 * @param farthestBytes more than the most bytes before a fault
 * @param kinds what may go wrong; a kind that is listed twice happens twice as often
 */
public record FaultsBySeed(
        List<String> clients, List<String> servers, int most, int nearestBytes, int farthestBytes, List<Kind> kinds) {
    /** Connections end more often than anything else happens. */
    public static final List<Kind> USUAL = List.of(
            Kind.KILL,
            Kind.POWER_OFF,
            Kind.PAUSE_CLIENT,
            Kind.PAUSE_SERVER,
            Kind.PARTITION,
            Kind.STALL,
            Kind.CUT,
            Kind.CUT,
            Kind.RESET,
            Kind.RESET);

    private static final int LEAST_PAUSE_BITS = 10;
    private static final int MOST_PAUSE_BITS = 33;

    /** What may go wrong. Times are up to 8 s, and short ones are as likely as long ones. */
    public enum Kind {
        /** The client is killed. */
        KILL,
        /** The client loses its power. */
        POWER_OFF,
        /** The client stands still, with its RNIC or without. */
        PAUSE_CLIENT,
        /** The server stands still, with its RNIC or without. */
        PAUSE_SERVER,
        /** Nothing gets from the one to the other. */
        PARTITION,
        /** Nothing arrives in one direction. */
        STALL,
        /** What is under way arrives later. */
        DELAY,
        /** The connection is cut at a byte. */
        CUT,
        /** The connection is reset. */
        RESET
    }

    /** Copies. */
    public FaultsBySeed {
        clients = List.copyOf(clients);
        servers = List.copyOf(servers);
        kinds = List.copyOf(kinds);
    }

    /** The faults of a seed. */
    public FaultPlan plan(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed ^ Long.MIN_VALUE);
        FaultPlan plan = FaultPlan.NONE;
        for (int i = 1 + random.nextInt(most); i > 0; i--) {
            plan = plan.and(fault(random));
        }
        return plan;
    }

    private Fault fault(RandomGenerator random) {
        String client = clients.get(random.nextInt(clients.size()));
        String server = servers.size() == 1 ? servers.getFirst() : servers.get(random.nextInt(servers.size()));
        boolean toServer = random.nextBoolean();
        When when = new When.AfterBytes(
                toServer ? client : server, toServer ? server : client, random.nextInt(nearestBytes, farthestBytes));
        return new Fault(when, what(random, client, server), Fault.ALWAYS, 1 + random.nextInt(2));
    }

    private What what(RandomGenerator random, String client, String server) {
        long ns = 1 + random.nextLong(1L << random.nextInt(LEAST_PAUSE_BITS, MOST_PAUSE_BITS));
        return switch (kinds.get(random.nextInt(kinds.size()))) {
            case KILL -> new What.Kill(client);
            case POWER_OFF -> new What.PowerOff(client);
            case PAUSE_CLIENT -> new What.Pause(client, ns, random.nextBoolean());
            case PAUSE_SERVER -> new What.Pause(server, ns, random.nextBoolean());
            case PARTITION -> new What.Partition(client, server, ns);
            case STALL -> new What.Stall(ns);
            case DELAY -> new What.Delay(ns);
            case CUT -> new What.Cut();
            case RESET -> new What.Reset();
        };
    }
}
