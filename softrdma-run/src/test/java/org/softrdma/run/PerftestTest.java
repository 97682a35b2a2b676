package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tools of perftest, which exchange addresses by TCP. They compare no bytes: the pingpongs do. */
class PerftestTest {
    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireProgram("ib_read_lat", "perftest");
        real = new RealRun(folder);
    }

    private static String command(String tool) throws Exception {
        return tool + " -F -n 50 -x " + RealRun.loopbackGid() + " -p " + RealRun.freePort();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_read_lat -s 8",
                "ib_write_lat -s 65536",
                "ib_send_lat -e",
                "ib_atomic_lat",
                "ib_read_bw -s 65536",
                "ib_write_bw -c UC",
                "ib_send_bw -c UD -s 1024",
                "ib_atomic_bw -A FETCH_AND_ADD",
                "ib_send_bw --use-srq -q 2",
                "ib_send_lat -c UD",
            })
    void shouldMeasureWithinARun(String tool) throws Exception {
        String command = command(tool);
        real.expectTalk(command, command + " 127.0.0.1");
        // The server of a latency test that needs nothing of it prints no figures.
        assertTrue(real.count("#bytes") >= 1, real::said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_read_bw -s 4096", "ib_send_lat -c UD -s 64", "ib_write_lat -c UC"})
    void shouldMeasureBetweenTwoRuns(String tool) throws Exception {
        String command = command(tool);
        real.expectTalkOfTwoRuns(command, command + " 127.0.0.1");
    }
}
