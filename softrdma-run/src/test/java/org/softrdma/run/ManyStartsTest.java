package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs that begin again and again, and ten at once: none hangs, and each has a card of its own, by which two programs talk. A start takes
 * two seconds of one processor: the JVM's, and that of the card, which loads its classes when it is opened.
 */
@Tag("slow")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ManyStartsTest {
    private static final int AT_ONCE = 10;

    @TempDir
    private Path folder;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireProgram("ibv_rc_pingpong", "ibverbs-utils");
    }

    private static int some(int all) {
        return Boolean.getBoolean("softrdma.slow.short") ? all / 5 : all;
    }

    private Process start(Path said) throws IOException {
        String pingpong = "ibv_rc_pingpong -c -e -n 20 -g " + RealRun.loopbackGid() + " -p " + RealRun.freePort();
        return RealRun.start(
                said, "sh", "-c", pingpong + " & " + RealRun.retried(pingpong + " 127.0.0.1") + "; wait $!");
    }

    private static void expectEnd(Process run, Path said) throws InterruptedException {
        try {
            assertTrue(run.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), () -> RealRun.text(said));
            assertEquals(0, run.exitValue(), () -> RealRun.text(said));
            assertEquals(3, RealRun.text(said).split("iters in", -1).length, () -> RealRun.text(said));
        } finally {
            run.destroyForcibly();
        }
    }

    @Test
    void shouldBeginTenAtOnceTenTimes() throws Exception {
        for (int round = 0; round < some(10); round++) {
            List<Process> runs = new ArrayList<>();
            try {
                for (int i = 0; i < AT_ONCE; i++) {
                    runs.add(start(folder.resolve("said" + i)));
                }
                for (int i = 0; i < AT_ONCE; i++) {
                    expectEnd(runs.get(i), folder.resolve("said" + i));
                }
            } finally {
                runs.forEach(Process::destroyForcibly);
            }
        }
    }

    @Test
    void shouldBeginAHundredTimesInARow() throws Exception {
        for (int i = 0; i < some(100); i++) {
            Path said = folder.resolve("said");
            expectEnd(start(said), said);
        }
    }
}
