package org.softrdma.cluster;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.FarmConfigurationDescriptor;
import org.softrdma.farm.membership.PlacementPolicy;

/** What ZooKeeper knows of a cluster, for one that looks and is no machine of it. One thread. */
public final class ClusterView implements AutoCloseable {
    private static final int SESSION_MS = 10_000;
    private static final int TRIES = 10;

    private final ClusterClient session;
    private final ClusterPaths paths;
    private final String name;

    private ClusterView(ClusterClient session, ClusterPaths paths, String name) {
        this.session = session;
        this.paths = paths;
        this.name = name;
    }

    /**
     * A machine that is alive.
     *
     * @param address where it listens
     * @param memory whether it offers memory
     */
    public record Machine(InetSocketAddress address, boolean memory) {}

    /**
     * Looks at a cluster.
     *
     * @param servers of ZooKeeper, as {@code host:port,host:port}
     * @param name of the cluster
     * @param timeoutNs longest wait for ZooKeeper
     * @throws ClusterException if there is none
     */
    public static ClusterView open(String servers, String name, long timeoutNs) {
        ClusterPaths paths = ClusterPaths.of(name);
        ClusterClient session = ClusterClient.open(servers, SESSION_MS, timeoutNs, ClusterClient.SessionEvents.NONE);
        try {
            if (!session.exists(paths.settings())) {
                List<String> known = session.exists(ClusterPaths.CLUSTERS)
                        ? session.children(ClusterPaths.CLUSTERS).stream()
                                .sorted()
                                .toList()
                        : List.of();
                throw new ClusterException("there is no cluster '" + name + "' in ZooKeeper at " + servers
                        + (known.isEmpty() ? ", nor any other" : ", only " + String.join(", ", known)));
            }
            return new ClusterView(session, paths, name);
        } catch (RuntimeException e) {
            session.close();
            throw e;
        }
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** What all of its machines have in common. */
    public ClusterSettings settings() {
        return ClusterSettings.decode(session.get(paths.settings()));
    }

    /** Who has what. */
    public FarmConfiguration configuration() {
        return FarmConfigurationDescriptor.decode(session.get(paths.config()));
    }

    /** The epoch that is active; 0 before the first one. */
    public int active() {
        return ClusterTexts.number(session.get(paths.active()));
    }

    /** Machines that are alive, members or not yet. */
    public Map<Integer, Machine> alive() {
        Map<Integer, Machine> machines = new TreeMap<>();
        for (String child : session.children(paths.alive())) {
            int machine = ClusterPaths.numbers(child)[0];
            session.find(paths.alive(machine)).map(ClusterTexts::announced).ifPresent(it -> machines.put(machine, it));
        }
        return machines;
    }

    /** How often each machine that is alive has renewed its lease. */
    public Map<Integer, Integer> renewals() {
        Map<Integer, Integer> machines = new TreeMap<>();
        for (String child : session.children(paths.leases())) {
            int machine = ClusterPaths.numbers(child)[0];
            session.version(paths.lease(machine)).ifPresent(version -> machines.put(machine, version));
        }
        return machines;
    }

    /**
     * Where something is that was loaded, as whoever has loaded it says; empty if nobody has.
     *
     * @param what its name: letters
     */
    public Optional<Map<String, String>> data(String what) {
        return session.find(paths.data(what)).map(text -> ClusterTexts.decode(text, Set.of()));
    }

    /**
     * Says where something is that was loaded.
     *
     * @param what its name: letters
     * @param values words without blanks
     */
    public void data(String what, Map<String, String> values) {
        byte[] text = ClusterTexts.encode(values);
        session.createIfAbsent(paths.data(what), text);
        if (!session.replace(paths.data(what), before -> text)) {
            throw new ClusterException("somebody else loads the same into cluster '" + name + "' at this moment");
        }
    }

    /** The placement policy. */
    public PlacementPolicy policy() {
        return ClusterTexts.policy(session.get(paths.policy()));
    }

    /**
     * Changes the placement policy; whoever composes the next configuration has it.
     *
     * @param change of the policy before
     */
    public void changePolicy(UnaryOperator<PlacementPolicy> change) {
        for (int i = 0; i < TRIES; i++) {
            if (session.replace(paths.policy(), text -> ClusterTexts.policy(change.apply(ClusterTexts.policy(text))))) {
                return;
            }
        }
        throw new ClusterException(
                "somebody else changes the placement policy of cluster '" + name + "' all the time: try again");
    }

    @Override
    public void close() {
        session.close();
    }
}
