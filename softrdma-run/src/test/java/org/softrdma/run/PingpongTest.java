package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pingpongs of rdma-core: each compares the bytes that it gets. */
class PingpongTest {
    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireProgram("ibv_rc_pingpong", "ibverbs-utils");
        real = new RealRun(folder);
    }

    /** Options that both ends have: the loopback address, and a TCP port on which they exchange addresses. */
    private static String options(String more) throws IOException {
        return " -c -g " + RealRun.loopbackGid() + " -p " + RealRun.freePort() + " " + more + " ";
    }

    @ParameterizedTest
    @CsvSource({
        "ibv_rc_pingpong, -n 20 -s 64",
        "ibv_rc_pingpong, -n 200 -s 65536 -m 512 -e",
        "ibv_srq_pingpong, -n 200 -s 4096 -e",
        "ibv_uc_pingpong, -n 200 -s 65536 -m 4096 -e",
        "ibv_ud_pingpong, -n 20 -s 1024",
        "ibv_ud_pingpong, -n 200 -s 64 -e",
    })
    void shouldLetTwoProgramsOfOneRunTalk(String program, String more) throws Exception {
        String pingpong = program + options(more);
        real.expectTalk(pingpong, pingpong + " 127.0.0.1");
        assertEquals(2, real.count("iters in"), real::said);
    }

    /** The second one has another UDP port, which the number of its queue pair names. */
    @ParameterizedTest
    @CsvSource({
        "ibv_rc_pingpong, -n 20 -s 64",
        "ibv_rc_pingpong, -n 200 -s 65536 -e",
        "ibv_ud_pingpong, -n 200 -s 1024 -e",
    })
    void shouldLetTwoRunsOnOneAddressTalk(String program, String more) throws Exception {
        String pingpong = program + options(more);
        real.expectTalkOfTwoRuns(pingpong, pingpong + " 127.0.0.1");
    }

    /** They poll, and make no call that could fail. */
    @Test
    void shouldEndThoseThatHaveTheCardWhenThisProcessIsKilled() throws Exception {
        String endless = "ibv_rc_pingpong" + options("-n 100000000");
        Path number = folder.resolve("number");
        Process run = real.start(
                "sh",
                "-c",
                "stdbuf -oL " + endless + " & server=$!; until " + endless
                        + " 127.0.0.1 | grep remote; do sleep 0.1; done & " + "echo $server >" + number + "; wait");
        long program = real.await(number);
        List<ProcessHandle> left = List.of();
        try {
            real.until("remote address");
            left = run.descendants().toList();
            run.destroyForcibly().waitFor();
            RealRun.awaitEnd(program);
        } finally {
            left.forEach(ProcessHandle::destroyForcibly);
            run.destroyForcibly();
        }
    }

    /** The peer hears of it by its retries, and whoever comes next finds a card. */
    @Test
    void shouldEndTheQueuePairsOfAProgramThatIsKilled() throws Exception {
        Path number = folder.resolve("number");
        String endless = "ibv_rc_pingpong" + options("-e -n 100000000");
        String next = "ibv_rc_pingpong" + options("-n 10");
        Path servers = folder.resolve("server");
        Process server = RealRun.start(
                servers,
                "sh",
                "-c",
                "stdbuf -oL " + endless + " & echo $! >" + number + "; wait $!; echo ended; exec " + next);
        try {
            Path clients = folder.resolve("client");
            Process client = RealRun.start(
                    clients,
                    "sh",
                    "-c",
                    "until " + endless + " 127.0.0.1 | grep remote; do sleep 0.1; done; "
                            + RealRun.retried(next + " 127.0.0.1"));
            try {
                long program = real.await(number);
                RealRun.until(() -> Files.readString(servers).contains("remote address"), servers);
                ProcessHandle.of(program).ifPresent(ProcessHandle::destroyForcibly);
                assertTrue(client.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), () -> RealRun.text(clients));
                assertEquals(0, client.exitValue(), RealRun.text(clients));
                assertTrue(RealRun.text(clients).contains("Failed status"), RealRun.text(clients));
                assertTrue(server.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), () -> RealRun.text(servers));
                assertEquals(0, server.exitValue(), RealRun.text(servers));
            } finally {
                client.destroyForcibly();
            }
        } finally {
            server.destroyForcibly();
        }
    }
}
