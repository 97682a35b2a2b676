package org.softrdma.cli.kv;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softrdma kv}: one command at a {@code softrdma server}, or any memcached. */
@Command(
        name = "kv",
        description = "Run one command on a softrdma server (GETs use RDMA) or on any memcached over TCP.",
        subcommands = {
            GetCommands.Get.class,
            GetCommands.Gets.class,
            StoreCommands.Set.class,
            StoreCommands.Add.class,
            StoreCommands.Replace.class,
            StoreCommands.Append.class,
            StoreCommands.Prepend.class,
            StoreCommands.Cas.class,
            ItemCommands.Delete.class,
            NumberCommands.Incr.class,
            NumberCommands.Decr.class,
            ItemCommands.Touch.class,
            ServerCommands.Flush.class,
            ServerCommands.Stats.class,
            ServerCommands.Version.class
        })
public final class KvCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    KvCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Missing subcommand.");
    }
}
