package org.softrdma.cli.run;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.cli.faults.FaultPlanFile;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.faults.ControlSocket;
import picocli.CommandLine.Option;

/** Options of {@code softrdma run} that say what goes wrong. */
final class FaultOptions {
    @Option(
            names = "--faults",
            paramLabel = "FILE",
            description = "Make the card fail as this plan says (docs/reference/fault-plans.md).")
    private @Nullable Path plan;

    @Option(
            names = "--seed",
            paramLabel = "NUMBER",
            description = "Seed of the faults that happen only sometimes (perMille); the first line of the log shows it"
                    + " (default: from the clock).")
    private @Nullable Long seed;

    @Option(
            names = "--fault-log",
            paramLabel = "FILE",
            description = "Write a line for each fault that happens. Two logs of one seed can be compared.")
    private @Nullable Path log;

    @Option(
            names = "--control",
            paramLabel = "PATH",
            description = "Listen at this Unix socket for changes while the program runs: add FAULT (as in a plan, on"
                    + " one line), remove NUMBER, list, clear.")
    private @Nullable Path control;

    FaultOptions() {}

    /**
     * What the options have opened.
     *
     * @param faults of the card
     */
    record Opened(
            CardFaults faults,
            @Nullable PrintWriter log,
            @Nullable ControlSocket control) implements AutoCloseable {
        @Override
        public void close() {
            if (control != null) {
                control.close();
            }
            if (log != null) {
                log.close();
            }
        }
    }

    /**
     * Reads the plan, and opens the log and the socket.
     *
     * @throws UserErrorException if one of them cannot be
     */
    Opened open() {
        if (plan == null && control == null) {
            if (seed != null || log != null) {
                throw new UserErrorException("--seed and --fault-log: only with --faults or --control");
            }
            return new Opened(CardFaults.none(), null, null);
        }
        FaultPlan planned = plan == null ? FaultPlan.NONE : FaultPlanFile.read(plan, CardFaults::requirePossible);
        long chosen = seed == null ? System.currentTimeMillis() : seed;
        PrintWriter writer = log == null ? null : writer(log);
        Consumer<String> lines = writer == null ? line -> {} : writer::println;
        lines.accept("seed " + chosen);
        CardFaults faults = CardFaults.of(planned, control != null, chosen, lines, System::nanoTime);
        return new Opened(faults, writer, control == null ? null : socket(control, faults));
    }

    /** Each line is in the file at once: whoever runs a program may kill this process. */
    private static PrintWriter writer(Path file) {
        try {
            return new PrintWriter(Files.newBufferedWriter(file, StandardCharsets.UTF_8), /* autoFlush= */ true);
        } catch (IOException e) {
            throw new UserErrorException("--fault-log " + file + ": cannot be written: " + e, e);
        }
    }

    private static ControlSocket socket(Path path, CardFaults faults) {
        try {
            return ControlSocket.open(path, faults, FaultOptions::fault);
        } catch (IOException | IllegalArgumentException e) {
            throw new UserErrorException("--control " + path + ": cannot listen there: " + e.getMessage(), e);
        }
    }

    private static Fault fault(String text) {
        try {
            return FaultPlanFile.fault("the fault", text, CardFaults::requirePossible);
        } catch (UserErrorException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }
}
