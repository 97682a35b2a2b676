package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.host.HostCheck;
import org.softrdma.run.host.HostFinding;
import org.softrdma.run.host.RxeDriver;

/**
 * Programs of this machine below a real filter, each run in a JVM of its own. What they say is in files of a folder.
 *
 * @param folder of a test
 */
record RealRun(Path folder) {
    static final long DEADLINE_SECONDS = 60;
    private static final long STEP_MS = 20;

    /** Skips a test where nothing can be run. */
    static void requireSeccomp() throws InterruptedException {
        Optional<HostFinding> missing = HostCheck.all(System.getProperty("os.arch")).stream()
                .filter(each -> !each.good() && !each.subject().equals("driver"))
                .findFirst();
        assumeTrue(missing.isEmpty(), () -> missing.orElseThrow().sentence());
    }

    /** Skips a test of a program that uses a card where it, or the driver, is not installed. */
    static void requireProgram(String program, String from) throws InterruptedException {
        requireSeccomp();
        assumeTrue(Files.isExecutable(Path.of("/usr/bin", program)), "no " + program + ": it is in " + from);
        assumeTrue(RxeDriver.find().good(), RxeDriver.find().sentence());
    }

    /** Skips a test of a program that is compiled for verbs where that cannot be. */
    static void requireVerbsHeader() throws InterruptedException {
        requireProgram("gcc", "gcc");
        assumeTrue(
                Files.exists(Path.of("/usr/include/infiniband/verbs.h")),
                "no infiniband/verbs.h: it is in libibverbs-dev");
    }

    /**
     * Compiles a program in C, once.
     *
     * @param folder where to
     * @param name of the program
     * @param options of the compiler; others make another program
     */
    static String compiled(Path folder, String name, String... options) throws Exception {
        String variant = Stream.of(options)
                .filter(option -> option.equals("-static") || option.startsWith("-D"))
                .collect(Collectors.joining());
        Path program = folder.resolve(name + variant);
        if (!Files.exists(program)) {
            List<String> command =
                    new ArrayList<>(List.of("gcc", "-O1", "-Wall", "-Werror", "-pthread", "-o", program.toString()));
            command.add(Path.of("src/test/native", name + ".c").toString());
            command.addAll(List.of(options));
            File said = folder.resolve(name + ".log").toFile();
            Process compiler = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(said)
                    .start();
            assertTrue(compiler.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), "the compiler does not end");
            assertEquals(0, compiler.exitValue(), () -> text(said.toPath()));
        }
        return program.toString();
    }

    /** Begins a run. */
    Process start(String... program) throws IOException {
        return start(output(), program);
    }

    /** Begins a run of a JVM with these options. */
    Process startWith(List<String> options, String... program) throws IOException {
        return start(options, output(), program);
    }

    /** Begins a run that says what it says into a file. */
    static Process start(Path output, String... program) throws IOException {
        return start(List.of(), output, program);
    }

    private static Process start(List<String> options, Path output, String... program) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(options);
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                RunMain.class.getName()));
        command.addAll(List.of(program));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    private Path output() {
        return folder.resolve("output");
    }

    /** A run to its end; its exit code. */
    int run(String... program) throws IOException, InterruptedException {
        return runWith(List.of(), program);
    }

    /** A run of a JVM with these options to its end; its exit code. */
    int runWith(List<String> options, String... program) throws IOException, InterruptedException {
        Process process = startWith(options, program);
        try {
            assertTrue(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), () -> "it does not end: " + said());
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    /** What the last run has said. */
    String said() {
        return text(output());
    }

    /** How often the last run has said that. */
    int count(String what) {
        return said().split(what, -1).length - 1;
    }

    /** Two programs of one run talk to each other, the second one once the first one listens; both succeed. */
    void expectTalk(String server, String client) throws IOException, InterruptedException {
        assertEquals(0, run("sh", "-c", server + " & " + retried(client) + "; wait $!"), said());
    }

    /** Two programs, each in a run of its own; both succeed. */
    void expectTalkOfTwoRuns(String server, String client) throws IOException, InterruptedException {
        Path said = folder.resolve("server");
        Process listening = start(said, "sh", "-c", server);
        try {
            assertEquals(0, run("sh", "-c", retried(client)), () -> said() + text(said));
            assertTrue(listening.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), () -> text(said));
            assertEquals(0, listening.exitValue(), () -> text(said));
        } finally {
            listening.destroyForcibly();
        }
    }

    /** Tries until the server is there. */
    static String retried(String client) {
        return "n=0; until " + client + "; do n=$((n + 1)); [ $n -lt 100 ] || exit 9; sleep 0.1; done";
    }

    /** Index of the loopback address in the table of GIDs. */
    static int loopbackGid() throws IOException {
        List<GidEntry> gids = RxeDevice.ofThisHost().gids();
        int index = 0;
        while (!gids.get(index).address().equals(InetAddress.ofLiteral("127.0.0.1"))) {
            index++;
        }
        return index;
    }

    /** A TCP port by which programs exchange addresses. */
    static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    /** What is in a file. */
    static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Waits for a condition; a failure tells what is in a file. */
    static void until(Callable<Boolean> condition, Path said) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!condition.call()) {
            assertTrue(System.nanoTime() < end, () -> text(said));
            TimeUnit.MILLISECONDS.sleep(STEP_MS);
        }
    }

    /** Waits until the last run has said something. */
    void until(String what) throws Exception {
        until(() -> said().contains(what), output());
    }

    /** Waits for a condition; a failure tells what the last run has said. */
    void until(Callable<Boolean> condition) throws Exception {
        until(condition, output());
    }

    /** Waits for a number that a program writes into a file. */
    long await(Path file) throws Exception {
        until(() -> Files.exists(file) && Files.readString(file).endsWith("\n"), output());
        return Long.parseLong(Files.readString(file).strip());
    }

    /** Waits until a process has ended. */
    static void awaitEnd(long process) throws Exception {
        Optional<ProcessHandle> handle = ProcessHandle.of(process);
        if (handle.isPresent()) {
            handle.get().onExit().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }
    }
}
