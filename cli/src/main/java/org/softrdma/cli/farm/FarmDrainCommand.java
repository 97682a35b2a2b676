package org.softrdma.cli.farm;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.PlacementPolicy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma farm drain}: moves all regions away from a machine. */
@Command(
        name = "drain",
        description = {
            "Move all regions away from a machine, so that it can be stopped. Each is copied first, and is never on"
                    + " fewer machines than before.",
            "The command does not wait; `softrdma farm status` shows how far it is."
        })
final class FarmDrainCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    @Parameters(paramLabel = "MACHINE", description = "Number of the machine, as `softrdma farm status` shows it.")
    private int machine;

    FarmDrainCommand() {}

    @Override
    public Integer call() {
        return cluster.look(view -> {
            FarmConfiguration configuration = view.configuration();
            if (!configuration.members().contains(machine)) {
                throw new UserErrorException(
                        "machine " + machine + " is no member: expected one of " + configuration.members());
            }
            view.changePolicy(policy -> {
                Set<Integer> drained = new TreeSet<>(policy.drained());
                drained.add(machine);
                drained.retainAll(configuration.members());
                return new PlacementPolicy(policy.removed(), drained, policy.balanced());
            });
            spec.commandLine()
                    .getOut()
                    .println("the regions of machine " + machine
                            + " move to others; `softrdma farm status` shows how far it is");
            spec.commandLine().getOut().flush();
        });
    }
}
