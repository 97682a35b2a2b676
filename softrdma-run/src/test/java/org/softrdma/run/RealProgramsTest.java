package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.host.HostCheck;
import org.softrdma.run.host.HostFinding;
import org.softrdma.run.host.RxeDriver;

/** Programs of this machine below a real filter, each run in a JVM of its own. */
class RealProgramsTest {
    private static final long DEADLINE_SECONDS = 60;
    private static final long STEP_MS = 20;

    @TempDir
    private Path folder;

    @BeforeAll
    static void requireSeccomp() throws InterruptedException {
        Optional<HostFinding> missing = HostCheck.all(System.getProperty("os.arch")).stream()
                .filter(each -> !each.good() && !each.subject().equals("driver"))
                .findFirst();
        assumeTrue(missing.isEmpty(), () -> missing.orElseThrow().sentence());
    }

    private static boolean isInstalled(String program) {
        return Files.isExecutable(Path.of("/usr/bin", program));
    }

    private Process start(String... program) throws IOException {
        return start(output(), program);
    }

    private static Process start(Path output, String... program) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
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

    private int run(String... program) throws IOException, InterruptedException {
        Process process = start(program);
        try {
            assertTrue(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), () -> "it does not end: " + said());
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private String said() {
        try {
            return Files.readString(output());
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Waits for a number that a program writes into a file. */
    private long await(Path file) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!Files.exists(file) || !Files.readString(file).endsWith("\n")) {
            assertTrue(System.nanoTime() < end, () -> "no " + file + ": " + said());
            TimeUnit.MILLISECONDS.sleep(STEP_MS);
        }
        return Long.parseLong(Files.readString(file).strip());
    }

    private static void awaitEnd(long process) throws Exception {
        Optional<ProcessHandle> handle = ProcessHandle.of(process);
        if (handle.isPresent()) {
            handle.get().onExit().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldShowFilesThatAreNotThereAndThoseThatAre() throws Exception {
        int code = run("sh", "-c", """
            cat /sys/class/infiniband/rxe0/node_type /dev/null /etc/hostname
            ls -la /sys/class/infiniband /dev/infiniband || exit 1
            cd /sys/class && cat infiniband_verbs/uverbs0/ibdev && cat infiniband/../infiniband/rxe0/ports/1/state
            test -c /dev/infiniband/uverbs0 && test -d /sys/class/infiniband/rxe0/ports || exit 2
            test -e /sys/class/infiniband/mlx5_0 && exit 3
            echo x 2>/dev/null >/sys/class/infiniband/rxe0/node_type && exit 4
            cat /nonexistent 2>/dev/null
            exit 42
            """);
        String said = said();
        assertEquals(42, code, said);
        assertTrue(said.contains("1: CA\n"), said);
        assertTrue(said.contains("4: ACTIVE\n"), said);
        assertTrue(said.contains("231, 192"), said);
        assertTrue(said.contains("rxe0\n"), said);
    }

    @Test
    void shouldEndWhatTheProgramLeavesBehindAndTellItsSignal() throws Exception {
        Path left = folder.resolve("left");
        assertEquals(
                128 + 9,
                run("sh", "-c", "(trap '' TERM; exec sleep 1000) & echo $! >" + left + "; kill -9 $$"),
                said());
        assertFalse(ProcessHandle.of(await(left)).map(ProcessHandle::isAlive).orElse(false));
    }

    @Test
    void shouldEndTheProgramWhenThisProcessIsKilled() throws Exception {
        Path number = folder.resolve("number");
        Process run = start("sh", "-c", "echo $$ >" + number + "; while :; do :; done");
        long program = await(number);
        try {
            run.destroyForcibly().waitFor();
            awaitEnd(program);
        } finally {
            ProcessHandle.of(program).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void shouldSayWhenThereIsNoSuchProgram() throws Exception {
        assertEquals(127, run("no-such-program"), said());
        assertTrue(said().contains("no-such-program: no such program"), said());
        Path file = Files.writeString(folder.resolve("file"), "no program");
        assertEquals(126, run(file.toString()), said());
        assertTrue(said().contains("not executable"), said());
    }

    @Test
    void shouldShowTheCardToIbvDevinfo() throws Exception {
        assumeTrue(isInstalled("ibv_devinfo"), "no ibv_devinfo: it is in ibverbs-utils");
        assumeTrue(RxeDriver.find().good(), RxeDriver.find().sentence());
        assertEquals(0, run("sh", "-c", "ibv_devices && ibv_devinfo -v -d rxe0"), said());
        String said = said();
        assertTrue(said.contains("hca_id:\trxe0"), said);
        assertTrue(said.contains("PORT_ACTIVE (4)"), said);
        assertTrue(said.contains("max_qp_wr:\t\t\t16384"), said);
        assertTrue(said.contains("RoCE v2"), said);
    }

    // ---- pingpongs: each compares the bytes that it gets

    private static void requirePingpongs() {
        assumeTrue(isInstalled("ibv_rc_pingpong"), "no ibv_rc_pingpong: it is in ibverbs-utils");
        assumeTrue(RxeDriver.find().good(), RxeDriver.find().sentence());
    }

    /** Options that both ends have: the loopback address, and a TCP port on which they exchange addresses. */
    private static String options(String more) throws IOException {
        List<GidEntry> gids = RxeDevice.ofThisHost().gids();
        int index = 0;
        while (!gids.get(index).address().equals(InetAddress.ofLiteral("127.0.0.1"))) {
            index++;
        }
        try (ServerSocket free = new ServerSocket(0)) {
            return " -c -g " + index + " -p " + free.getLocalPort() + " " + more + " ";
        }
    }

    /** Tries until the server is there. */
    private static String client(String pingpong) {
        return "n=0; until " + pingpong + " 127.0.0.1; do n=$((n + 1)); [ $n -lt 100 ] || exit 9; sleep 0.1; done";
    }

    @ParameterizedTest
    @CsvSource({
        "ibv_rc_pingpong, -n 20 -s 64",
        "ibv_rc_pingpong, -n 200 -s 65536 -e",
        "ibv_srq_pingpong, -n 200 -s 4096 -e",
        "ibv_uc_pingpong, -n 200 -s 65536 -m 4096 -e",
    })
    void shouldLetTwoProgramsOfOneRunTalk(String program, String more) throws Exception {
        requirePingpongs();
        String pingpong = program + options(more);
        assertEquals(0, run("sh", "-c", pingpong + " & " + client(pingpong) + "; wait $!"), said());
        assertEquals(2, count("iters in"), said());
    }

    private int count(String text) {
        return said().split(text, -1).length - 1;
    }

    /** The second one has another UDP port, which the number of its queue pair names. */
    @ParameterizedTest
    @ValueSource(strings = {"-n 20 -s 64", "-n 200 -s 65536 -e"})
    void shouldLetTwoRunsOnOneAddressTalk(String more) throws Exception {
        requirePingpongs();
        String pingpong = "ibv_rc_pingpong" + options(more);
        Path servers = folder.resolve("server");
        Process server = start(servers, "sh", "-c", pingpong);
        try {
            assertEquals(0, run("sh", "-c", client(pingpong)), said());
            assertTrue(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), Files.readString(servers));
            assertEquals(0, server.exitValue(), Files.readString(servers));
        } finally {
            server.destroyForcibly();
        }
    }

    /** They poll, and make no call that could fail. */
    @Test
    void shouldEndThoseThatHaveTheCardWhenThisProcessIsKilled() throws Exception {
        requirePingpongs();
        String endless = "ibv_rc_pingpong" + options("-n 100000000");
        Path number = folder.resolve("number");
        Process run = start(
                "sh",
                "-c",
                "stdbuf -oL " + endless + " & server=$!; until " + endless
                        + " 127.0.0.1 | grep remote; do sleep 0.1; done & " + "echo $server >" + number + "; wait");
        long program = await(number);
        List<ProcessHandle> left = List.of();
        try {
            until(() -> said().contains("remote address"), output());
            left = run.descendants().toList();
            run.destroyForcibly().waitFor();
            awaitEnd(program);
        } finally {
            left.forEach(ProcessHandle::destroyForcibly);
            run.destroyForcibly();
        }
    }

    /** The peer hears of it by its retries, and whoever comes next finds a card. */
    @Test
    void shouldEndTheQueuePairsOfAProgramThatIsKilled() throws Exception {
        requirePingpongs();
        Path number = folder.resolve("number");
        String endless = "ibv_rc_pingpong" + options("-e -n 100000000");
        String next = "ibv_rc_pingpong" + options("-n 10");
        Path servers = folder.resolve("server");
        Process server = start(
                servers,
                "sh",
                "-c",
                "stdbuf -oL " + endless + " & echo $! >" + number + "; wait $!; echo ended; exec " + next);
        try {
            Path clients = folder.resolve("client");
            Process client = start(
                    clients,
                    "sh",
                    "-c",
                    "until " + endless + " 127.0.0.1 | grep remote; do sleep 0.1; done; " + client(next));
            try {
                long program = await(number);
                until(() -> Files.readString(servers).contains("remote address"), servers);
                ProcessHandle.of(program).ifPresent(ProcessHandle::destroyForcibly);
                assertTrue(client.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), () -> text(clients));
                assertEquals(0, client.exitValue(), text(clients));
                assertTrue(text(clients).contains("Failed status"), text(clients));
                assertTrue(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), () -> text(servers));
                assertEquals(0, server.exitValue(), text(servers));
            } finally {
                client.destroyForcibly();
            }
        } finally {
            server.destroyForcibly();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void until(Callable<Boolean> condition, Path said) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!condition.call()) {
            assertTrue(System.nanoTime() < end, () -> text(said));
            TimeUnit.MILLISECONDS.sleep(STEP_MS);
        }
    }
}
