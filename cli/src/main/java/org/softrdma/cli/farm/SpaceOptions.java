package org.softrdma.cli.farm;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cluster.ClusterSettings;
import picocli.CommandLine.Option;

/** What all machines of a cluster have in common. The first one says it; others may repeat it. */
final class SpaceOptions {
    private static final int BLOCKS = 64;
    private static final int MOST_BLOCK_BYTES = 1 << 20;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Number of machines; the cluster starts when all have joined (3).")
    private @Nullable Integer nodes;

    @Option(
            names = "--replicas",
            paramLabel = "N",
            description = "Copies of each region, including the primary (3, or --nodes if that is less).")
    private @Nullable Integer replicas;

    @Option(names = "--region", paramLabel = "SIZE", description = "Size of a region, at most 2G (4M).")
    private @Nullable String region;

    @Option(
            names = "--lease",
            paramLabel = "MS",
            description =
                    "How long a machine trusts what it reads without hearing from ZooKeeper (1500). ZooKeeper ends"
                            + " its session after 4/3 of that; a failure stops the other machines for the sum of both.")
    private @Nullable Long lease;

    SpaceOptions() {}

    /** What a new cluster has. */
    ClusterSettings settings() {
        return settings(replicas == null ? Math.min(ClusterSettings.DEFAULT.replicas(), machines()) : replicas);
    }

    private int machines() {
        return nodes == null ? ClusterSettings.DEFAULT.machines() : nodes;
    }

    /** What new clusters have: one with so many replicas as were said, or one with one and one with all. */
    List<ClusterSettings> bothSettings() {
        ClusterSettings said = settings();
        return replicas == null && said.replicas() > 1 ? List.of(settings(1), said) : List.of(said);
    }

    private ClusterSettings settings(int copies) {
        int machines = machines();
        try {
            long regionBytes = region == null ? ClusterSettings.DEFAULT.regionBytes() : ByteSize.parse(region);
            return new ClusterSettings(
                    machines,
                    copies,
                    regionBytes,
                    (int) Math.min(MOST_BLOCK_BYTES, regionBytes / BLOCKS),
                    lease == null ? ClusterSettings.DEFAULT.leaseMs() : lease);
        } catch (IllegalArgumentException e) {
            throw new UserErrorException(
                    String.valueOf(e.getMessage())
                            .replace("nodes=", "--nodes ")
                            .replace("replicas=", "--replicas ")
                            .replace("regionLength=", "--region ")
                            .replace("leaseNs=", "--lease "),
                    e);
        }
    }

    /** The options that give a child process the same. */
    static List<String> arguments(ClusterSettings settings) {
        return List.of(
                "--nodes", String.valueOf(settings.machines()),
                "--replicas", String.valueOf(settings.replicas()),
                "--region", String.valueOf(settings.regionBytes()),
                "--lease", String.valueOf(settings.leaseMs()));
    }

    /** Refuses what the user said otherwise than the cluster has it. */
    void requireSame(String cluster, ClusterSettings there) {
        ClusterSettings here = settings();
        List<String> faults = new ArrayList<>();
        compare(faults, "--nodes", nodes != null, here.machines(), there.machines());
        compare(faults, "--replicas", replicas != null, here.replicas(), there.replicas());
        compare(faults, "--region", region != null, here.regionBytes(), there.regionBytes());
        compare(faults, "--lease", lease != null, here.leaseMs(), there.leaseMs());
        if (!faults.isEmpty()) {
            throw new UserErrorException("cluster '" + cluster + "' was begun with other settings: "
                    + String.join(", ", faults) + "; omit them, or choose another --name");
        }
    }

    private static void compare(List<String> faults, String option, boolean given, long here, long there) {
        if (given && here != there) {
            faults.add(option + " is " + there + " there and " + here + " here");
        }
    }
}
