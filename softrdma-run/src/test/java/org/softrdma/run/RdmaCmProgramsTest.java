package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that connect by rdma_cm. rping compares the bytes that it gets, the others count their messages. */
class RdmaCmProgramsTest {
    private static final String FROM = "rdmacm-utils";

    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireProgram("rping", FROM);
        real = new RealRun(folder);
    }

    private static String rping() throws IOException {
        return " -a 127.0.0.1 -V -C 10 -S 4096 -p " + RealRun.freePort();
    }

    @Test
    void shouldLetRpingsOfOneRunTalk() throws Exception {
        String rping = rping();
        real.expectTalk("rping -s" + rping, "rping -c" + rping);
    }

    @Test
    void shouldLetRpingsOfTwoRunsTalk() throws Exception {
        String rping = rping();
        real.expectTalkOfTwoRuns("rping -s" + rping, "rping -c" + rping);
    }

    /** It has another UDP port than 4791, which the client's run has. */
    @Test
    void shouldFindTheServerOfALaterRun() throws Exception {
        String rping = rping();
        Path said = folder.resolve("client");
        Process client = RealRun.start(
                said, "sh", "-c", "ucmatose -s 127.0.0.1 -p 1; echo card; " + RealRun.retried("rping -c" + rping));
        try {
            RealRun.until(() -> RealRun.text(said).contains("card"), said);
            assertEquals(0, real.run("sh", "-c", "rping -s" + rping), real::said);
            RealRun.until(() -> !client.isAlive(), said);
            assertEquals(0, client.exitValue(), () -> RealRun.text(said));
        } finally {
            client.destroyForcibly();
        }
    }

    @Test
    void shouldLetUcmatoseConnectSeveralQueuePairs() throws Exception {
        String more = " -c 10 -C 5 -S 1000 -p " + RealRun.freePort();
        real.expectTalk("ucmatose -b 127.0.0.1" + more, "ucmatose -s 127.0.0.1" + more);
        assertEquals(2, real.count("return status 0"), real::said);
    }

    @Test
    void shouldLetUdaddyFindWhereDatagramsGo() throws Exception {
        String more = " -c 3 -C 5 -S 1000";
        real.expectTalk("udaddy -b 127.0.0.1" + more, "udaddy -s 127.0.0.1" + more);
        assertEquals(2, real.count("return status 0"), real::said);
    }

    /** Two runs: one sends to a group, in which programs of both are. Each waits for three seconds for a switch. */
    @Tag("slow")
    @Test
    void shouldLetMckeySendToAGroup() throws Exception {
        RealRun.requireProgram("mckey", FROM);
        long own = ProcessHandle.current().pid() & 0xFFFF; // all that have joined a group hear it
        String mckey = "stdbuf -oL mckey -m 239.254.%d.%d -b 127.0.0.1 -C 5 -S 1000".formatted(own >> 8, own & 0xFF);
        Path said = folder.resolve("receiver");
        Process receiver = RealRun.start(said, "sh", "-c", "exec " + mckey);
        try {
            RealRun.until(() -> RealRun.text(said).contains("receiving data transfers"), said);
            assertEquals(0, real.run("sh", "-c", mckey + " -s"), () -> real.said() + RealRun.text(said));
            RealRun.until(() -> !receiver.isAlive(), said);
            assertEquals(0, receiver.exitValue(), () -> RealRun.text(said));
        } finally {
            receiver.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_read_lat -s 4096", "ib_send_bw -s 65536 -e", "ib_write_lat", "ib_send_lat -c UD"})
    void shouldLetPerftestConnect(String tool) throws Exception {
        RealRun.requireProgram("ib_read_lat", "perftest");
        String command = tool + " -R -F -n 50 -p " + RealRun.freePort();
        real.expectTalk(command, command + " 127.0.0.1");
        assertTrue(real.count("#bytes") > 0, real::said); // a side that only serves READs prints no table
    }

    /** Its peer, of another run, hears that it is disconnected, or what it has asked for fails before. */
    @Test
    void shouldTellThePeerOfAProgramThatIsKilled() throws Exception {
        String rping = " -a 127.0.0.1 -v -C 1000000 -p " + RealRun.freePort();
        Path said = folder.resolve("server");
        Path number = folder.resolve("number");
        Process server = RealRun.start(said, "sh", "-c", "rping -s" + rping + "; echo ended");
        Process client = real.start(
                "sh", "-c", RealRun.retried("stdbuf -oL rping -c" + rping + " & echo $! >" + number + "; wait $!"));
        try {
            real.until("ping data");
            assertTrue(ProcessHandle.of(real.await(number)).orElseThrow().destroyForcibly());
            RealRun.until(() -> RealRun.text(said).contains("ended"), said);
        } finally {
            client.destroyForcibly();
            server.destroyForcibly();
        }
    }
}
