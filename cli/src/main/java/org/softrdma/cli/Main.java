package org.softrdma.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The root command. A subcommand is a class with {@code @Command}, named in {@link #SUBCOMMANDS}; it is a
 * {@code Callable<Integer>} that returns an exit code and throws {@link UserErrorException} for what its user can put
 * right. Runs on the main thread.
 */
@Command(
        name = "softrdma",
        versionProvider = Main.Version.class,
        description = "RDMA software without RDMA hardware.",
        synopsisSubcommandLabel = "COMMAND",
        commandListHeading = "%nCommands:%n",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:success", "1:the work failed", "2:the command line or its input is wrong"})
public final class Main implements Runnable {
    /** The work was done. */
    public static final int EXIT_OK = 0;

    /** The work failed, or there is a fault in this program. */
    public static final int EXIT_FAILED = 1;

    /** The command line, or a file or address it names, is wrong. */
    public static final int EXIT_USAGE = 2;

    /** Every subcommand, in the order in which the help lists them. Add yours here. */
    private static final List<Class<?>> SUBCOMMANDS = List.of(
            ServerCommand.class,
            KvCommand.class,
            WimpyCommand.class,
            PinningStudyCommand.class,
            PerfCommand.class,
            RpingCommand.class,
            TckCommand.class,
            ProvidersCommand.class,
            InteropCommand.class,
            Help.class);

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Log more: once for info, twice for debug. Implies --stacktrace.")
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
    static CommandLine commandLine() {
        final CommandLine commandLine = new CommandLine(new Main());
        for (final Class<?> subcommand : SUBCOMMANDS) {
            commandLine.addSubcommand(subcommand);
        }
        return configure(commandLine);
    }

    /** What picocli applies to the subcommands that are there at the time, so call it when all of them are. */
    static CommandLine configure(final CommandLine commandLine) {
        final Main main = commandLine.getCommand();
        commandLine
                .getSubcommands()
                .values()
                .forEach(each -> each.getCommandSpec().usageMessage().optionListHeading("%nOptions:%n"));
        return commandLine
                .setExecutionStrategy(main::run)
                .setParameterExceptionHandler(main::explainParameters)
                .setExecutionExceptionHandler(main::explainFailure)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true);
    }

    /** Without a subcommand there is nothing to do; say what there is. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Name a command.");
    }

    private int run(final ParseResult parseResult) {
        if (verbose.length > 0) {
            // Before the first logger exists: slf4j-simple reads this once.
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", verbose.length > 1 ? "debug" : "info");
        }
        return new CommandLine.RunLast().execute(parseResult);
    }

    private int explainParameters(final ParameterException failure, final String[] args) {
        final CommandLine command = failure.getCommandLine();
        final PrintWriter err = command.getErr();
        final String name = command.getCommandSpec().qualifiedName();
        if (failure instanceof UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()
                && !unmatched.isUnknownOption()
                && !command.getSubcommands().isEmpty()) {
            err.println(name + ": '" + unmatched.getUnmatched().get(0) + "' is not a command.");
        } else {
            err.println(name + ": " + conversionFault(failure).orElseGet(() -> sentence(failure)));
        }
        UnmatchedArgumentException.printSuggestions(failure, err);
        if (!command.getSubcommands().isEmpty()) {
            err.println("Commands: " + String.join(", ", commandNames(command)));
        }
        err.println("Try '" + name + " --help'.");
        if (showsStackTrace(args)) {
            err.print(command.getColorScheme().richStackTraceString(failure));
        }
        err.flush();
        return EXIT_USAGE;
    }

    private int explainFailure(final Exception failure, final CommandLine command, final ParseResult parseResult) {
        final PrintWriter err = command.getErr();
        final String name = command.getCommandSpec().qualifiedName();
        final boolean usersFault = failure instanceof UserErrorException;
        err.println(name + ": " + (usersFault ? sentence(failure) : "unexpected failure: " + failure));
        if (stacktrace || verbose.length > 0) {
            err.print(command.getColorScheme().richStackTraceString(failure));
        } else if (!usersFault) {
            err.println("Run it again with --stacktrace to see where.");
        }
        err.flush();
        return usersFault ? EXIT_USAGE : EXIT_FAILED;
    }

    /** A value of the wrong type in one sentence, {@code -m x: expected a whole number}; picocli's names its Java types. */
    private static Optional<String> conversionFault(final ParameterException failure) {
        final @Nullable ArgSpec argument = failure.getArgSpec();
        if (argument == null || !(failure.getCause() instanceof TypeConversionException)) {
            return Optional.empty();
        }
        final Class<?> type = argument.auxiliaryTypes()[argument.auxiliaryTypes().length - 1];
        final String expected;
        if (type.isEnum()) {
            expected = Arrays.stream(type.getEnumConstants())
                    .map(each -> each.toString().toLowerCase(Locale.ROOT))
                    .collect(Collectors.joining(" or "));
        } else if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
            expected = "a whole number";
        } else if (type == double.class || type == Double.class) {
            expected = "a number";
        } else {
            return Optional.empty();
        }
        final String name = argument instanceof OptionSpec option ? option.shortestName() : argument.paramLabel();
        return Optional.of(name + " " + failure.getValue() + ": expected " + expected);
    }

    /** The commands that people are told of. */
    private static List<String> commandNames(final CommandLine command) {
        return command.getSubcommands().entrySet().stream()
                .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** After a parse failure the fields may not be set, so look at what was typed. */
    private static boolean showsStackTrace(final String[] args) {
        return List.of(args).contains("--stacktrace")
                || List.of(args).contains("-v")
                || List.of(args).contains("--verbose");
    }

    private static String sentence(final Exception failure) {
        final @Nullable String message = failure.getMessage();
        return message == null || message.isBlank() ? failure.toString() : message;
    }

    /** {@code softrdma help [COMMAND]}. picocli's own help command would clash with the inherited {@code --help}. */
    @Command(name = "help", description = "Show the help of a command.")
    static final class Help implements Callable<Integer> {
        @Spec
        private CommandSpec spec;

        @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "The command; without it, the whole.")
        private @Nullable String command;

        @Override
        public Integer call() {
            final CommandLine root = spec.root().commandLine();
            final CommandLine target =
                    command == null ? root : root.getSubcommands().get(command);
            if (target == null) {
                throw new UserErrorException(
                        "'" + command + "' is not a command; there are: " + String.join(", ", commandNames(root)));
            }
            target.usage(spec.commandLine().getOut());
            return EXIT_OK;
        }
    }

    /** The version from the jar's manifest, and what the jar runs on. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            final @Nullable String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {
                "softrdma " + (version == null ? "(unpacked classes)" : version),
                Ansi.AUTO.string("Java " + Runtime.version() + ", " + System.getProperty("os.name") + " "
                        + System.getProperty("os.arch"))
            };
        }
    }
}
