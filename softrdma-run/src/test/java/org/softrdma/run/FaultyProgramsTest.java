package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that are as they are, beside a card that fails. */
class FaultyProgramsTest {
    @TempDir
    private static Path built;

    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireProgram("ibv_rc_pingpong", "ibverbs-utils");
        real = new RealRun(folder);
    }

    private static String pingpong() throws Exception {
        return "ibv_rc_pingpong -c -e -n 20 -g " + RealRun.loopbackGid() + " -p " + RealRun.freePort();
    }

    /** A server, and a client that tries until a request of one of them fails, which ends the other one, too. */
    private int talk(PlannedFaults faults, String server, String client) throws Exception {
        String said = folder.resolve("said").toString();
        String script = server + " >>" + said + " 2>&1 & first=$!; until grep -q 'Failed status' " + said + "; do "
                + client + " >>" + said + " 2>&1; sleep 0.1; done; kill $first; cat " + said;
        return real.runWith(faults.with(1), "sh", "-c", script);
    }

    private static String sender(boolean mended, int seconds) throws Exception {
        RealRun.requireVerbsHeader();
        String program = mended
                ? RealRun.compiled(built, "sender", "-DMENDED", "-libverbs")
                : RealRun.compiled(built, "sender", "-libverbs");
        return program + " " + RealRun.loopbackGid() + " " + seconds;
    }

    @Test
    void shouldRefuseObjects() throws Exception {
        String server = pingpong();
        assertEquals(
                1, real.runWith(PlannedFaults.OBJECTS_FAIL.with(1), "sh", "-c", server + "; " + server), real::said);
        assertTrue(real.said().contains("Couldn't register MR"), real::said);
        assertTrue(real.said().contains("Couldn't create QP"), real::said);
    }

    @Test
    void shouldFailAWrite() throws Exception {
        RealRun.requireProgram("ib_write_bw", "perftest");
        String tool = "ib_write_bw -F -n 50 -x " + RealRun.loopbackGid() + " -p " + RealRun.freePort();
        assertEquals(0, talk(PlannedFaults.WRITE_FAILS, tool, tool + " 127.0.0.1"), real::said);
        assertTrue(real.said().contains("Failed status 10"), real::said);
    }

    @Test
    void shouldTellOfAPeerThatVanishes() throws Exception {
        String pingpong = pingpong();
        assertEquals(0, talk(PlannedFaults.PEER_VANISHES, pingpong, pingpong + " 127.0.0.1"), real::said);
        assertTrue(real.said().contains("Failed status transport retry counter exceeded (12)"), real::said);
    }

    @Test
    void shouldTellThatThePortIsDownAndUp() throws Exception {
        Path events = folder.resolve("events");
        String sender = sender(true, 60);
        assertEquals(
                0,
                real.runWith(
                        PlannedFaults.PORT_GOES_DOWN.with(1),
                        "sh",
                        "-c",
                        "stdbuf -oL ibv_asyncwatch >" + events + " & watch=$!; until grep -q FD " + events
                                + "; do sleep 0.05; done; " + sender + " || exit 1; until grep -q ACTIVE " + events
                                + " || grep -q 'port active' " + events + "; do sleep 0.05; done; kill $watch"),
                () -> real.said() + RealRun.text(events));
        String said = RealRun.text(events);
        assertTrue(said.contains("port error") || said.contains("PORT_ERR"), said);
    }

    @Test
    void shouldTellOfReceiversThatAreNotReady() throws Exception {
        assertEquals(4, real.runWith(PlannedFaults.NO_RECEIVES.with(1), "sh", "-c", sender(true, 60)), real::said);
        assertTrue(real.said().contains("RNR retry counter exceeded"), real::said);
    }

    @Test
    void shouldTalkOverANetworkThatLosesDoublesAndDelays() throws Exception {
        String pingpong = pingpong();
        assertEquals(
                0,
                real.runWith(
                        PlannedFaults.NETWORK_LOSES.with(1),
                        "sh",
                        "-c",
                        pingpong + " & " + RealRun.retried(pingpong + " 127.0.0.1") + "; wait $!"),
                real::said);
        for (String what : List.of("Lose", "Repeat", "Delay")) {
            assertEquals(1, real.count(": " + what), real::said);
        }
    }

    /** Both stay away; of the one for which there was no room the program is told. */
    @Test
    void shouldLoseCompletionsAndOverrunAQueue() throws Exception {
        assertEquals(3, real.runWith(PlannedFaults.COMPLETIONS_GO.with(1), "sh", "-c", sender(true, 2)), real::said);
        assertTrue(real.said().contains("198 of 200 messages"), real::said);
        assertEquals(1, real.count("event: CQ error"), real::said);
    }

    /** A late completion, and a receiver that is not ready for a while: a program that waits for ever notices nothing. */
    @Test
    void shouldGoOnAfterALateCompletionAndAStormOfRefusals() throws Exception {
        String pingpong = pingpong();
        assertEquals(
                0,
                real.runWith(
                        PlannedFaults.LATE.with(1),
                        "sh",
                        "-c",
                        pingpong + " & " + RealRun.retried(pingpong + " 127.0.0.1") + "; wait $!"),
                real::said);
        assertEquals(2, real.count("iters in"), real::said);
        assertEquals(2, real.count("fault: "), real::said);
    }

    @Test
    void shouldRefuseCallsOfTheConnectionManager() throws Exception {
        RealRun.requireProgram("rping", "rdmacm-utils");
        String rping = " -a 127.0.0.1 -C 1 -p " + RealRun.freePort();
        assertNotEquals(
                0,
                real.runWith(
                        PlannedFaults.CONNECTIONS_FAIL.with(1),
                        "sh",
                        "-c",
                        "timeout 20 rping -s" + rping + "; timeout 20 rping -c" + rping),
                real::said);
        assertTrue(real.said().contains("rdma_listen: Cannot allocate memory"), real::said);
        assertTrue(real.said().contains("rdma_resolve_addr: Network is unreachable"), real::said);
    }

    /** The example of docs/guide/faulty-card.md. */
    @Test
    void shouldBeRedByASeedAndGreenWhenMended() throws Exception {
        assertEquals(3, real.runWith(PlannedFaults.POSTS_FAIL.with(7), "sh", "-c", sender(false, 2)), real::said);
        List<String> first = mended(7);
        assertTrue(first.size() > 5, first::toString);
        assertEquals(first, mended(7));
        assertNotEquals(first, mended(8));
    }

    private List<String> mended(long seed) throws Exception {
        assertEquals(0, real.runWith(PlannedFaults.POSTS_FAIL.with(seed), "sh", "-c", sender(true, 60)), real::said);
        return real.said().lines().filter(line -> line.startsWith("fault: ")).toList();
    }
}
