package org.softrdma.cluster;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SystemNanoClock;
import org.softrdma.farm.graph.FarmGraph;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.membership.MembershipSettings;
import org.softrdma.farm.node.FarmNodeContext;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.farm.transaction.EchoFunction;
import org.softrdma.farm.transaction.ShippedFunction;

/**
 * What all machines of a cluster have in common; ZooKeeper keeps what its first machine said. Immutable.
 *
 * @param machines that must be alive before the first epoch begins
 * @param replicas machines that shall have each region
 * @param regionBytes length of a region
 * @param blockBytes length of a block of objects of one size
 * @param leaseMs how long a machine trusts what it READs after it has asked for its lease
 */
public record ClusterSettings(int machines, int replicas, long regionBytes, int blockBytes, long leaseMs) {
    private static final int DRIFT_PER_MILLE = 10;
    /** A lease is three quarters of a session. */
    private static final int LEASE_PARTS = 3;

    private static final int SESSION_PARTS = 4;

    /** What maps, graphs and measurements have machines do. */
    private static final Map<Integer, ShippedFunction> FUNCTIONS = functions();

    /** Three machines, each region on all of them, regions of 4 MiB, and leases of 1.5 s. */
    public static final ClusterSettings DEFAULT = new ClusterSettings(3, 3, 4 << 20, 1 << 16, 1500);

    /** Checks. */
    public ClusterSettings {
        if (machines < 1 || replicas < 1 || replicas > machines) {
            throw new IllegalArgumentException("nodes=" + machines + ", replicas=" + replicas
                    + ": expected one or more nodes, and one to as many replicas");
        }
        SpaceShape _ = new SpaceShape(regionBytes, blockBytes, true);
        MembershipSettings _ = membership(machines, replicas, leaseMs);
    }

    private static MembershipSettings membership(int machines, int replicas, long leaseMs) {
        return new MembershipSettings(
                TimeUnit.MILLISECONDS.toNanos(leaseMs),
                DRIFT_PER_MILLE,
                machines,
                replicas,
                MembershipSettings.DEFAULT.rings());
    }

    private static Map<Integer, ShippedFunction> functions() {
        Map<Integer, ShippedFunction> functions = new HashMap<>(FarmMap.FUNCTIONS);
        functions.putAll(FarmGraph.FUNCTIONS);
        functions.putAll(EchoFunction.FUNCTIONS);
        return Map.copyOf(functions);
    }

    /** How long ZooKeeper shall wait for a machine that says nothing. */
    int sessionMs() {
        return Math.toIntExact(leaseMs * SESSION_PARTS / LEASE_PARTS);
    }

    /**
     * What a node of this cluster is made of; it has the functions of maps and of graphs, and the one that does nothing.
     *
     * @param address where it listens
     * @param cluster number of the cluster
     */
    FarmNodeContext context(InetSocketAddress address, long cluster) {
        return new FarmNodeContext(address)
                .cluster(cluster)
                .shape(new SpaceShape(regionBytes, blockBytes, true))
                .membership(membership(machines, replicas, leaseMs))
                .functions(FUNCTIONS)
                .time(SystemNanoClock.INSTANCE, ClusterNode::idleStrategy);
    }

    byte[] encode() {
        return ClusterTexts.encode(values());
    }

    private Map<String, Long> values() {
        Map<String, Long> values = new LinkedHashMap<>();
        values.put("nodes", (long) machines);
        values.put("replicas", (long) replicas);
        values.put("region", regionBytes);
        values.put("block", (long) blockBytes);
        values.put("lease-ms", leaseMs);
        return values;
    }

    static ClusterSettings decode(byte[] text) {
        Map<String, String> values = ClusterTexts.decode(text, DEFAULT.values().keySet());
        return new ClusterSettings(
                Integer.parseInt(values.get("nodes")),
                Integer.parseInt(values.get("replicas")),
                Long.parseLong(values.get("region")),
                Integer.parseInt(values.get("block")),
                Long.parseLong(values.get("lease-ms")));
    }

    /** As {@code nodes=3 replicas=3 ...}. */
    @Override
    public String toString() {
        return new String(encode(), StandardCharsets.UTF_8);
    }
}
