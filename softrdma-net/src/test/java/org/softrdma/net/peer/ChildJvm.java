package org.softrdma.net.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A test's {@code main} in a JVM of its own, for what may end a JVM or needs limits. */
public final class ChildJvm {
    /** Less than a test may take. */
    private static final long DEADLINE_SECONDS = 100;

    private ChildJvm() {}

    /**
     * What it was and said.
     *
     * @param exitCode of the process
     * @param lines of its output, errors included
     */
    public record Outcome(int exitCode, List<String> lines) {}

    /**
     * Runs a class and waits for its end.
     *
     * @param prefix a command that runs the JVM, or nothing
     * @param options of the JVM
     * @param main the class
     */
    public static Outcome run(List<String> prefix, List<String> options, Class<?> main) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(command(options, main));
        try {
            // Not by a pipe, which would be read until the child ends, if ever.
            Path output = Files.createTempFile("child-jvm", ".txt");
            try {
                return new Outcome(run(command, output), Files.readAllLines(output));
            } finally {
                Files.delete(output);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("running " + command, e);
        }
    }

    /** Whether a command that runs others works here; a JVM to see that would take a second. */
    public static boolean works(List<String> prefix) {
        List<String> command = new ArrayList<>(prefix);
        command.add("true");
        return succeeds(command);
    }

    /** Whether a command ends with 0; false if it is not installed. */
    public static boolean succeeds(List<String> command) {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError("running " + command, e);
        }
    }

    /**
     * The command that runs a class.
     *
     * @param options of the JVM
     * @param main the class
     */
    public static List<String> command(List<String> options, Class<?> main) {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports",
                "java.base/jdk.internal.misc=ALL-UNNAMED",
                "-XX:-CreateCoredumpOnCrash",
                "-XX:ErrorFile=/dev/null"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return command;
    }

    private static int run(List<String> command, Path output) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
            assertTrue(ended, () -> "it did not end: " + said(output));
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String said(Path output) {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
