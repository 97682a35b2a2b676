package org.softrdma.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma help [COMMAND]}. picocli's own help command would clash with the inherited {@code --help}. */
@Command(name = "help", description = "Show the help of a command.")
final class HelpCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "The command; if omitted, list all commands.")
    private @Nullable String command;

    HelpCommand() {}

    @Override
    public Integer call() {
        final CommandLine root = spec.root().commandLine();
        final CommandLine target =
                command == null ? root : root.getSubcommands().get(command);
        if (target == null) {
            throw new UserErrorException("'" + command + "' is not a command. Commands: "
                    + String.join(", ", ErrorMessages.commandNames(root)));
        }
        target.usage(spec.commandLine().getOut());
        return ExitCode.OK;
    }
}
