package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs in C, compiled here: many queue pairs and threads, much memory, no library but its own, one that dies, and nonsense. */
class CompiledProgramsTest {
    @TempDir
    private static Path built;

    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireProgram("gcc", "gcc");
        real = new RealRun(folder);
    }

    private static String compiled(String name, String... options) throws Exception {
        return RealRun.compiled(built, name, options);
    }

    private static String withVerbs(String name, String... libraries) throws Exception {
        RealRun.requireVerbsHeader();
        return compiled(name, libraries);
    }

    private static String pairs(String... libraries) throws Exception {
        return withVerbs("pairs", libraries) + " " + RealRun.loopbackGid() + " ";
    }

    @Test
    void shouldLetAThousandQueuePairsOfManyThreadsTalk() throws Exception {
        assertEquals(0, real.run("sh", "-c", pairs("-libverbs") + "32 512 65536"), real::said);
        assertEquals(1, real.count("1024 queue pairs of 32 threads talked"), real::said);
    }

    /** Nothing is locked: a region is memory that is copied when it is used. */
    @Test
    void shouldRegisterMoreThanMayBeLocked() throws Exception {
        assertEquals(0, real.run("sh", "-c", "ulimit -l 64; " + pairs("-libverbs") + "1 2 1073741824"), real::said);
    }

    /** Its calls do not come through any library of this machine. */
    @Test
    void shouldServeAProgramThatHasItsLibrariesInItself() throws Exception {
        String program = pairs(
                "-DRDMA_STATIC_PROVIDERS=rxe",
                "-static",
                "-Wl,--start-group",
                "-libverbs",
                "-l:librxe-rdmav34.a",
                "-lnl-route-3",
                "-lnl-3",
                "-Wl,--end-group");
        assertEquals(0, real.run("sh", "-c", program + "2 4 65536"), real::said);
    }

    private static String writes(int port, String role) throws Exception {
        return withVerbs("writes", "-libverbs") + " " + RealRun.loopbackGid() + " " + port + " " + role;
    }

    private static long descriptors(Process process) throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
            return open.count();
        }
    }

    /** Its peer hears of it by its retries, and nothing of the two is left here. */
    @Test
    void shouldFailTheWritesToAProgramThatDiesAmidItsOwn() throws Exception {
        int port = RealRun.freePort();
        String round = writes(port, "dies") + " & " + writes(port, "fails 127.0.0.1")
                + " || exit 1; wait $!; [ $? -eq 137 ] || exit 2; read next; ";
        Process run = real.start("sh", "-c", round + round + "exit 7");
        try (Writer input = run.outputWriter()) {
            real.until(() -> real.count("then an error") == 1);
            long before = descriptors(run);
            input.write("\n");
            input.flush();
            real.until(() -> real.count("then an error") == 2);
            real.until(() -> descriptors(run) <= before);
            real.until(() -> run.descendants().count() == 1); // the shell
            input.write("\n");
            input.flush();
            assertTrue(run.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), real::said);
            assertEquals(7, run.exitValue(), real::said);
        } finally {
            run.destroyForcibly();
        }
    }

    @Test
    void shouldFailTheWritesToAProgramOfAnotherRunThatDiesAmidItsOwn() throws Exception {
        int port = RealRun.freePort();
        real.expectTalkOfTwoRuns(writes(port, "dies") + "; [ $? -eq 137 ]", "exec " + writes(port, "fails 127.0.0.1"));
    }

    /** Others go on beside it, and come after it. */
    @ParameterizedTest
    @CsvSource({"uverbs, 1", "rdma_cm, 2", "files, 3"})
    void shouldCostOnlyTheProgramThatSaysNonsense(String what, int seed) throws Exception {
        expectOnlyItsOwnEnd(what, seed);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"uverbs", "rdma_cm", "files"})
    void shouldCostOnlyTheProgramThatSaysNonsenseByMoreSeeds(String what) throws Exception {
        int seeds = Boolean.getBoolean("softrdma.slow.short") ? 2 : 20;
        for (int seed = 10; seed < 10 + seeds; seed++) {
            expectOnlyItsOwnEnd(what, seed);
        }
    }

    private void expectOnlyItsOwnEnd(String what, int seed) throws Exception {
        RealRun.requireProgram("ibv_rc_pingpong", "ibverbs-utils");
        String pingpong =
                "ibv_rc_pingpong -c -e -n 1000 -s 5000 -g " + RealRun.loopbackGid() + " -p " + RealRun.freePort();
        assertEquals(
                0,
                real.run(
                        "sh",
                        "-c",
                        pingpong + " & first=$!; " + RealRun.retried(pingpong + " 127.0.0.1") + " & second=$!; "
                                + compiled("hostile") + " " + what + " " + seed
                                + " 20000 || exit 1; wait $first || exit 2; wait $second || exit 3; "
                                + pingpong + " & first=$!; " + RealRun.retried(pingpong + " 127.0.0.1")
                                + "; wait $first"),
                real::said);
        assertEquals(4, real.count("iters in"), real::said);
        assertEquals(1, real.count(" accepted, "), real::said);
        assertEquals(0, real.count("a call of the program failed here"), real::said);
    }
}
