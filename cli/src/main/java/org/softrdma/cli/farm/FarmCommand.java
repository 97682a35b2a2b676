package org.softrdma.cli.farm;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma farm}: FaRM's address space over processes. */
@Command(
        name = "farm",
        description = {
            "Run machines of FaRM (Dragojevic et al., NSDI 2014) as processes: one address space over them, with"
                    + " transactions, replicas and recovery. ZooKeeper holds the membership.",
            "A study, not a database: keep your data elsewhere. All data is in memory, and anyone who can connect can"
                    + " read and change everything. Without ZooKeeper's majority nothing is read, and no transaction"
                    + " that reads commits."
        },
        subcommands = {
            FarmLocalCommand.class,
            FarmBankCommand.class,
            FarmZooKeeperCommand.class,
            FarmNodeCommand.class,
            FarmStatusCommand.class,
            FarmDrainCommand.class,
            FarmRebalanceCommand.class,
            FarmLoadCommand.class,
            FarmTaoCommand.class,
            FarmBenchCommand.class,
            FarmTellerCommand.class
        })
public final class FarmCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    FarmCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Missing subcommand.");
    }
}
