package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** Processes that do not know of each other, each with a server and a client at 127.0.0.1: none hears packets of another one. */
@Timeout(60)
class RoceProcessesTest {
    private static final int PROCESSES = 2;
    private static final int READS = 2_000;
    private static final int BYTES = 10_000;
    private static final List<String> FOREIGN = List.of(
            "roce.malformed",
            "roce.wrongPartition",
            "roce.wrongTransport",
            "roce.unknownQueuePair",
            "roce.foreignSource",
            "roce.icrcErrors");
    private static final String READING = "reading";

    @Test
    void shouldHearNothingOfAnotherProcessAtTheSameAddress() throws Exception {
        Process[] processes = new Process[PROCESSES];
        BufferedReader[] said = new BufferedReader[PROCESSES];
        try {
            for (int i = 0; i < PROCESSES; i++) {
                processes[i] = new ProcessBuilder(ChildJvm.command(List.of(), RoceProcessesTest.class))
                        .redirectErrorStream(true)
                        .start();
                said[i] = processes[i].inputReader();
            }
            for (BufferedReader each : said) {
                requireLine(each, READING);
            }
            for (Process each : processes) { // all of them read: now they may end
                each.getOutputStream().write('\n');
                each.getOutputStream().flush();
            }
            for (int i = 0; i < PROCESSES; i++) {
                requireLine(said[i], Map.of().toString());
                assertTrue(processes[i].waitFor(20, TimeUnit.SECONDS), "a process does not end");
                assertEquals(0, processes[i].exitValue());
            }
        } finally {
            for (Process each : processes) {
                if (each != null) {
                    each.destroyForcibly();
                }
            }
        }
    }

    private static void requireLine(BufferedReader from, String expected) throws IOException {
        StringBuilder all = new StringBuilder();
        for (String line = from.readLine(); line != null; line = from.readLine()) {
            if (line.equals(expected)) {
                return;
            }
            all.append(line).append('\n');
        }
        throw new AssertionError("expected \"" + expected + "\", but it said: " + all);
    }

    private static Map<String, Long> foreign(RoceEnds.Side side) {
        Map<String, Long> found = new TreeMap<>(side.device.counters());
        found.keySet().retainAll(FOREIGN);
        assertEquals(FOREIGN.size(), found.size(), "counters");
        found.values().removeIf(count -> count == 0);
        return found;
    }

    private static void read(RoceEnds ends) {
        ends.active
                .pair()
                .postRead(
                        1,
                        ends.active.region,
                        0,
                        BYTES,
                        ends.passive.region.address(),
                        ends.passive.region.rkey(),
                        SendFlags.SIGNALLED);
        WorkCompletion done = ends.active.next();
        assertEquals(CompletionStatus.SUCCESS, done.status());
    }

    /**
     * The child: reads until its parent says so and for a while longer, and prints its counters of foreign packets.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws IOException {
        try (RoceEnds ends = new RoceEnds("epoll", Map.of()).connect()) {
            read(ends);
            System.out.println(READING);
            while (System.in.available() == 0) {
                read(ends);
            }
            for (int i = 0; i < READS; i++) {
                read(ends);
            }
            Map<String, Long> found = foreign(ends.active);
            found.putAll(foreign(ends.passive));
            System.out.println(found);
        }
        System.exit(0);
    }
}
