package org.softrdma.cli.farm;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.cluster.ClusterView;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.PlacementPolicy;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.net.transport.AddressText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softrdma farm status}: what ZooKeeper knows of a cluster. */
@Command(name = "status", description = "Show the machines and regions of a cluster, as recorded in ZooKeeper.")
final class FarmStatusCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    FarmStatusCommand() {}

    @Override
    public Integer call() {
        return cluster.look(view -> print(view, spec.commandLine().getOut()));
    }

    /** What a view shows. */
    static void print(ClusterView view, PrintWriter out) {
        FarmConfiguration configuration = view.configuration();
        Map<Integer, ClusterView.Machine> alive = view.alive();
        out.println("cluster '" + view.name() + "': " + view.settings());
        if (configuration.epoch() == 0) {
            out.println(
                    "no epoch yet: " + alive.size() + " of " + view.settings().machines() + " machines are there");
        } else {
            int active = view.active();
            out.println("epoch " + configuration.epoch()
                    + (active == configuration.epoch() ? ", active" : ", not active yet (epoch " + active + " was)"));
        }
        TreeSet<Integer> machines = new TreeSet<>(alive.keySet());
        machines.addAll(configuration.members());
        for (int machine : machines) {
            out.println(machine(machine, configuration, alive.get(machine)));
        }
        configuration.regions().forEach((region, placement) -> out.println(region(region, placement)));
        PlacementPolicy policy = view.policy();
        if (!policy.equals(PlacementPolicy.NONE)) {
            out.println("wanted: drained machines: "
                    + list(policy.drained().stream().sorted().toList()) + "; "
                    + (policy.balanced() ? "regions spread over all others" : "no other region moves"));
        }
        out.flush();
    }

    private static String machine(int machine, FarmConfiguration configuration, ClusterView.@Nullable Machine alive) {
        String where = alive == null
                ? "not alive"
                : AddressText.of(alive.address()) + (alive.memory() ? "" : ", without memory");
        long has = configuration.regions().values().stream()
                .filter(placement -> placement.machines().contains(machine))
                .count();
        String part = configuration.members().contains(machine)
                ? "member, primary of " + configuration.regionsOf(machine) + " of its " + has + " regions"
                : configuration.admits(machine) ? "no member yet" : "removed";
        return "machine " + machine + ": " + where + ", " + part;
    }

    /** A line for a region. */
    static String region(int region, RegionPlacement placement) {
        String name = FarmAddress.regionText(region) + ": ";
        if (placement.isLost()) {
            return name + "LOST: every machine that had it whole is gone";
        }
        return name + "primary " + placement.primary() + ", replicas " + list(placement.replicas())
                + (placement.copies().isEmpty() ? "" : ", being copied to " + list(placement.copies()));
    }

    private static String list(List<Integer> machines) {
        return machines.isEmpty()
                ? "none"
                : machines.stream().map(String::valueOf).collect(Collectors.joining(" "));
    }
}
