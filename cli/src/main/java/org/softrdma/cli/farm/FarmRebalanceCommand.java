package org.softrdma.cli.farm;

import java.util.Set;
import java.util.concurrent.Callable;
import org.softrdma.farm.membership.PlacementPolicy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softrdma farm rebalance}: spreads regions over all machines. */
@Command(
        name = "rebalance",
        description = {
            "Spread regions over all machines, also those that have joined since and have none. Ends every `softrdma"
                    + " farm drain`.",
            "The command does not wait; `softrdma farm status` shows how far it is."
        })
final class FarmRebalanceCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions cluster = new ClusterOptions();

    FarmRebalanceCommand() {}

    @Override
    public Integer call() {
        return cluster.look(view -> {
            view.changePolicy(policy -> new PlacementPolicy(policy.removed(), Set.of(), true));
            spec.commandLine()
                    .getOut()
                    .println(
                            "regions move until they are spread over all machines; `softrdma farm status` shows how far it is");
            spec.commandLine().getOut().flush();
        });
    }
}
