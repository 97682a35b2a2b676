package org.softrdma.bench.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs short commands of the system, one at a time, and waits for their ends. Stateless. */
public final class SystemCommand {
    private static final long TIMEOUT_SECONDS = 20;

    private SystemCommand() {}

    /**
     * Runs a command.
     *
     * @param command program and arguments; its name is looked for in {@code PATH}
     * @return what it said, on both outputs
     * @throws IOException if it cannot be started, does not end, or ends with anything but 0: with the command and the first
     *     line that it said
     */
    public static String run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException("'" + String.join(" ", command) + "': "
                        + said.lines().findFirst().orElse("has failed"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while '" + String.join(" ", command) + "' ran", e);
        }
        return said;
    }
}
