package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs that begin ten at once, again and again: none hangs, and each finds a card of its own. */
@Tag("slow")
class ManyStartsTest {
    private static final int AT_ONCE = 10;

    @TempDir
    private Path folder;

    @Test
    void shouldBeginTenAtOnceTenTimes() throws Exception {
        RealRun.requireProgram("ibv_devinfo", "ibverbs-utils");
        int rounds = Boolean.getBoolean("softrdma.slow.short") ? 2 : 10;
        for (int round = 0; round < rounds; round++) {
            List<Process> runs = new ArrayList<>();
            try {
                for (int i = 0; i < AT_ONCE; i++) {
                    runs.add(RealRun.start(folder.resolve("said" + i), "ibv_devinfo"));
                }
                for (int i = 0; i < AT_ONCE; i++) {
                    Path said = folder.resolve("said" + i);
                    assertTrue(
                            runs.get(i).waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), () -> RealRun.text(said));
                    assertEquals(0, runs.get(i).exitValue(), () -> RealRun.text(said));
                    assertTrue(RealRun.text(said).contains("rxe0"), () -> RealRun.text(said));
                }
            } finally {
                runs.forEach(Process::destroyForcibly);
            }
        }
    }
}
