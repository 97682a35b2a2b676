package org.softrdma.cli;

import java.util.List;
import java.util.Optional;
import org.softrdma.cli.command.ProgramVersion;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cli.diagnosis.InteropCommand;
import org.softrdma.cli.diagnosis.ProvidersCommand;
import org.softrdma.cli.diagnosis.RpingCommand;
import org.softrdma.cli.diagnosis.TckCommand;
import org.softrdma.cli.diagnosis.WalkCommand;
import org.softrdma.cli.farm.FarmCommand;
import org.softrdma.cli.kv.KvCommand;
import org.softrdma.cli.perf.PerfCommand;
import org.softrdma.cli.run.RunCommand;
import org.softrdma.cli.server.ServerCommand;
import org.softrdma.cli.store.StoreCommand;
import org.softrdma.cli.study.CompareCommand;
import org.softrdma.cli.study.PapersCommand;
import org.softrdma.cli.study.PinningStudyCommand;
import org.softrdma.cli.study.WimpyCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The root command. A subcommand is a class with {@code @Command}, named in {@link #SUBCOMMANDS}; it is a
 * {@code Callable<Integer>} that returns an exit code and throws {@link UserErrorException} for what its user can put
 * right. Runs on the main thread.
 */
@Command(
        name = "softrdma",
        versionProvider = ProgramVersion.class,
        description = "RDMA software without RDMA hardware.",
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:success", "1:the work failed", "2:the command line or its input is wrong"})
public final class Main implements Runnable {
    /** Every subcommand, in the order in which the help lists them. Add yours here. */
    private static final List<Class<?>> SUBCOMMANDS = List.of(
            ServerCommand.class,
            KvCommand.class,
            StoreCommand.class,
            FarmCommand.class,
            RunCommand.class,
            WimpyCommand.class,
            CompareCommand.class,
            PapersCommand.class,
            PinningStudyCommand.class,
            PerfCommand.class,
            RpingCommand.class,
            TckCommand.class,
            WalkCommand.class,
            ProvidersCommand.class,
            InteropCommand.class,
            HelpCommand.class);

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Log more: once for info, twice for debug.")
    private boolean[] verbose = {};

    @Option(names = "--stacktrace", scope = ScopeType.INHERIT, description = "Show the stack trace of an error.")
    private boolean stacktrace;

    @SuppressWarnings("UnusedVariable") // picocli acts on the option itself
    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    /** Not inherited: after a command -V is what the program after which it is named means by it. */
    @SuppressWarnings("UnusedVariable") // picocli acts on the option itself
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version and exit.")
    private boolean version;

    private Main() {}

    /**
     * Runs one command and ends the process with its exit code.
     *
     * @param args the command line
     */
    public static void main(final String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** The whole command, with streams and exit codes still in the caller's hands. */
    public static CommandLine commandLine() {
        final CommandLine commandLine = new CommandLine(new Main());
        for (final Class<?> subcommand : SUBCOMMANDS) {
            commandLine.addSubcommand(subcommand);
        }
        return configure(commandLine);
    }

    /** What picocli applies to the subcommands that are there at the time, so call it when all of them are. */
    static CommandLine configure(final CommandLine commandLine) {
        final Main main = commandLine.getCommand();
        final ErrorMessages messages = new ErrorMessages(() -> main.stacktrace);
        commandLine
                .getSubcommands()
                .values()
                .forEach(each -> each.getCommandSpec().usageMessage().optionListHeading("%nOptions:%n"));
        Optional.ofNullable(commandLine.getSubcommands().get("server"))
                .ifPresent(server -> server.setOverwrittenOptionsAllowed(true)); // as memcached: the last one counts
        Optional.ofNullable(commandLine.getSubcommands().get("run"))
                .ifPresent(run -> run.setStopAtPositional(true)); // the options behind a program are the program's
        return commandLine
                .setExpandAtFiles(false) // an argument that begins with @ is meant as it is
                .setExecutionStrategy(main::run)
                .setParameterExceptionHandler(messages)
                .setExecutionExceptionHandler(messages)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true);
    }

    /** Without a subcommand there is nothing to do; say what there is. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Missing command.");
    }

    private int run(final ParseResult parseResult) {
        if (verbose.length > 0) {
            // Before the first logger exists: slf4j-simple reads this once.
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", verbose.length > 1 ? "debug" : "info");
            System.setProperty("org.slf4j.simpleLogger.log.io.netty", "info");
            System.setProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper", "info");
        }
        return new CommandLine.RunLast().execute(parseResult);
    }
}
