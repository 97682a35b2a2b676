package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run whose heap is full for a moment, while programs talk, and not for the first time: a connection may end by that, with errors, but nobody waits for good, and
 * the next programs find a card.
 */
@Tag("slow")
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class FullHeapTest {
    @TempDir
    private Path folder;

    @Test
    void shouldGoOnAfterItsHeapWasFull() throws Exception {
        RealRun.requireProgram("ibv_rc_pingpong", "ibverbs-utils");
        Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        int port = RealRun.freePort();
        String pingpong = "ibv_rc_pingpong -c -e -s 5000 -g " + RealRun.loopbackGid() + " -p " + port + " -n ";
        String both = pingpong
                + "COUNT & until grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done; "
                        .formatted(port)
                + "stdbuf -oL " + pingpong + "COUNT 127.0.0.1; client=$?; wait $!; echo ended $? $client; ";
        RealRun real = new RealRun(folder);
        Process run = real.startWith(
                List.of("-Xmx24m", "-D" + RunMain.FILLING_PIPE + "=" + pipe),
                "sh",
                "-c",
                both.replace("COUNT", "20") + "echo warm; " + both.replace("COUNT", "200") + "read next; "
                        + both.replace("COUNT", "20"));
        try (OutputStream filling = Files.newOutputStream(pipe)) {
            real.until(() ->
                    real.said().lastIndexOf("remote address") > real.said().lastIndexOf("warm")
                            && real.said().contains("warm"));
            filling.write(1);
            filling.flush();
            real.until("the heap is free");
            try (Writer input = run.outputWriter()) {
                input.write("\n");
            }
            assertTrue(run.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), real::said);
            assertTrue(real.said().endsWith("ended 0 0\n"), real::said);
        } finally {
            run.destroyForcibly();
        }
    }
}
