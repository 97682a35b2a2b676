package org.softrdma.cli.command;

import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;

/** Work that failed, told in one line. */
public final class CommandFailure {
    private CommandFailure() {}

    /**
     * Says in one line why the work failed.
     *
     * @param spec the command
     * @param failure why
     * @return the exit code
     */
    public static int tell(CommandSpec spec, RuntimeException failure) {
        String message = Optional.ofNullable(failure.getMessage()).orElse(failure.toString());
        spec.commandLine().getOut().flush();
        spec.commandLine().getErr().println(spec.qualifiedName() + ": " + message);
        spec.commandLine().getErr().flush();
        return ExitCode.FAILED;
    }
}
