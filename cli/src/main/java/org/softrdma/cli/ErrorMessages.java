package org.softrdma.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.MutuallyExclusiveArgsException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** What a command says when its command line is wrong or its work fails: one sentence, a stack trace only on demand. */
final class ErrorMessages implements IParameterExceptionHandler, IExecutionExceptionHandler {
    private final BooleanSupplier traced;

    /**
     * Messages of a command line.
     *
     * @param traced whether the user asked for stack traces; known once the command line is parsed
     */
    ErrorMessages(final BooleanSupplier traced) {
        this.traced = traced;
    }

    @Override
    public int handleParseException(final ParameterException failure, final String[] args) {
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
        if (List.of(args).contains("--stacktrace")) { // the fields may not be set
            err.print(command.getColorScheme().richStackTraceString(failure));
        }
        err.flush();
        return ExitCode.USAGE;
    }

    @Override
    public int handleExecutionException(
            final Exception failure, final CommandLine command, final ParseResult parseResult) {
        final PrintWriter err = command.getErr();
        final String name = command.getCommandSpec().qualifiedName();
        final boolean usersFault = failure instanceof UserErrorException;
        err.println(name + ": " + (usersFault ? sentence(failure) : "unexpected failure: " + failure));
        if (traced.getAsBoolean()) {
            err.print(command.getColorScheme().richStackTraceString(failure));
        } else if (!usersFault) {
            err.println("Run it again with --stacktrace to see where.");
        }
        err.flush();
        return usersFault ? ExitCode.USAGE : ExitCode.FAILED;
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
    static List<String> commandNames(final CommandLine command) {
        return command.getSubcommands().entrySet().stream()
                .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
    }

    private static String sentence(final Exception failure) {
        final @Nullable String message = failure.getMessage();
        if (message != null && failure instanceof MutuallyExclusiveArgsException) {
            // picocli's: "Error: --quick, --full are mutually exclusive (specify only one)"
            return message.replace("Error: ", "").replace(", ", " and ").replace(" (specify only one)", ": choose one");
        }
        return message == null || message.isBlank() ? failure.toString() : message;
    }
}
