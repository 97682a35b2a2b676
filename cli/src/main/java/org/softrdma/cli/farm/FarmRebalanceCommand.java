package org.softrdma.cli.farm;

import java.util.Set;
import java.util.concurrent.Callable;
import org.softrdma.farm.membership.Wishes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softrdma farm rebalance}: each region where its ring says. */
@Command(
        name = "rebalance",
        description = {
            "Move regions to the machines that their rings name: after machines have joined, which have none until"
                    + " then. Ends what `softrdma farm drain` said.",
            "The command only says so; `softrdma farm status` shows how far it is."
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
            view.wish(wishes -> new Wishes(wishes.removed(), Set.of(), true));
            spec.commandLine().getOut().println("regions shall be where their rings say");
            spec.commandLine().getOut().flush();
        });
    }
}
