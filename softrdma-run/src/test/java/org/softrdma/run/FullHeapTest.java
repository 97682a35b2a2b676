package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run whose heap is full for a moment, while programs talk, and not for the first time: a connection may end by that, with an error,
 * but without one nobody waits for good, and the next programs find a card.
 */
@Tag("slow")
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class FullHeapTest {
    private static final Pattern ENDED = Pattern.compile("ended (\\d+) (\\d+)");
    private static final String FAILED = "1";
    private static final Pattern WAITED = Pattern.compile("voluntary_ctxt_switches:\\s+(\\d+)");
    /** Many more than taking a queue pair from state to state takes. */
    private static final int MANY = 100;

    @TempDir
    private Path folder;

    @Test
    void shouldGoOnAfterItsHeapWasFull() throws Exception {
        RealRun.requireProgram("ibv_rc_pingpong", "ibverbs-utils");
        Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        int port = RealRun.freePort();
        String pingpong =
                "timeout 30 ibv_rc_pingpong -c -e -s 5000 -g " + RealRun.loopbackGid() + " -p " + port + " -n ";
        String both = pingpong
                + "COUNT & until grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done; "
                        .formatted(port)
                + "stdbuf -oL " + pingpong + "COUNT 127.0.0.1; client=$?; wait $!; echo ended $? $client; ";
        RealRun real = new RealRun(folder);
        Process run = real.startWith(
                List.of("-Xmx24m", "-D" + RunMain.FILLING_PIPE + "=" + pipe),
                "sh",
                "-c",
                both.replace("COUNT", "20") + "echo warm; " + both.replace("COUNT", "2000") + "read next; "
                        + both.replace("COUNT", "20"));
        try (OutputStream filling = Files.newOutputStream(pipe)) {
            real.until(() ->
                    real.said().lastIndexOf("remote address") > real.said().lastIndexOf("warm")
                            && real.said().contains("warm"));
            long before = waits(run);
            real.until(() -> waits(run) > before + MANY);
            filling.write(1);
            filling.flush();
            real.until("the heap is free");
            try (Writer input = run.outputWriter()) {
                input.write("\n");
            }
            assertTrue(run.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), real::said);
            List<MatchResult> ends = ENDED.matcher(real.said()).results().toList();
            assertEquals(3, ends.size(), real::said);
            MatchResult full = ends.get(1);
            boolean failed = full.group(1).equals(FAILED) || full.group(2).equals(FAILED);
            assertTrue(failed || full.group().equals("ended 0 0"), () -> "one waited for good: " + real.said());
            assertTrue(real.said().endsWith("ended 0 0\n"), real::said);
        } finally {
            run.destroyForcibly();
        }
    }

    /** How often the client has waited, for its card or its peer; very often if it has ended. */
    private static long waits(Process run) {
        List<Path> clients = run.descendants()
                .map(each -> Path.of("/proc", Long.toString(each.pid())))
                .filter(each -> {
                    String command = RealRun.text(each.resolve("cmdline"));
                    return command.startsWith("ibv_rc_pingpong") && command.contains("127.0.0.1");
                })
                .toList();
        if (clients.isEmpty()) {
            return Long.MAX_VALUE;
        }
        Matcher waited = WAITED.matcher(RealRun.text(clients.getFirst().resolve("status")));
        return waited.find() ? Long.parseLong(waited.group(1)) : Long.MAX_VALUE;
    }
}
