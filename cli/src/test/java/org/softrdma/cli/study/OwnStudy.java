package org.softrdma.cli.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;

/** A study in a process of its own, which it binds to a core. */
public final class OwnStudy {
    private static final long SECONDS = 900;

    private OwnStudy() {}

    /**
     * Runs a command to its good end.
     *
     * @param arguments of {@code softrdma}
     * @param output takes what it says
     * @return what it said
     */
    public static String run(List<String> arguments, Path output) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(OwnProgram.again(Main.class, arguments))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
            String said = Files.readString(output);
            assertTrue(ended, said);
            assertEquals(ExitCode.OK, process.exitValue(), said);
            return said;
        } finally {
            process.destroyForcibly();
        }
    }
}
