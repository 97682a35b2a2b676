package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.sim.NearProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.QueuePair;

/**
 * Four reader processes and one owner that registers, deregisters, swaps and overwrites, until each reader has read many
 * lives by itself, or some by {@code softrdma.slow.short}. Now and then a reader is stopped, wherever it is, perhaps in
 * the middle of a copy.
 */
class NearProcessesTest {
    private static final int READERS = 4;
    private static final int LIVES = Boolean.getBoolean("softrdma.slow.short") ? 200 : 15_000;
    private static final int LIVES_PER_STOP = 5;
    private static final int LIVES_OF_A_STOP = 3;

    @Test
    @Tag("slow")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldReadNothingThatWasWrittenAfterACloseInFourProcesses() throws Exception {
        Random random = new Random(1);
        List<Process> readers = new ArrayList<>();
        List<QueuePair> pairs = new ArrayList<>();
        try (TestDevice server = new TestDevice(NearProvider.open(Map.of(), new NearProvider.Memory()));
                ExecutorService threads = Executors.newCachedThreadPool()) {
            NearOwner owner = new NearOwner(server);
            owner.live();
            Future<List<QueuePair>> accepting =
                    threads.submit(() -> NearServer.accept(server.listener(), server.domain(), server.queue()));
            try {
                for (int i = 0; i < READERS; i++) {
                    readers.add(start(server, owner));
                }
                while (readers.stream().anyMatch(Process::isAlive)) {
                    for (int i = 0; i < LIVES_PER_STOP; i++) {
                        owner.live();
                    }
                    Process stopped = readers.get(random.nextInt(READERS));
                    signal(stopped, "STOP");
                    for (int i = 0; i < LIVES_OF_A_STOP; i++) {
                        owner.live(); // no reader can delay it
                    }
                    signal(stopped, "CONT");
                }
                requireGood(readers, owner);
            } finally {
                readers.forEach(Process::destroyForcibly);
                server.listener().close();
                pairs.addAll(accepting.get());
                pairs.forEach(QueuePair::close);
            }
        }
    }

    private static Process start(TestDevice server, NearOwner owner) throws IOException {
        return NearProcess.start(
                List.of(),
                NearReader.class,
                Integer.toString(server.address().getPort()),
                Long.toString(owner.notice().address()),
                Integer.toString(owner.notice().rkey()),
                Integer.toString(owner.shown().rkey()),
                Integer.toString(LIVES));
    }

    /** One that has ended does not mind. */
    private static void signal(Process process, String name) throws IOException, InterruptedException {
        int ignored = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    private static void requireGood(List<Process> readers, NearOwner owner) throws IOException {
        long near = 0;
        for (Process reader : readers) {
            try (BufferedReader says = reader.inputReader()) {
                String line = String.valueOf(says.readLine());
                assertEquals(0, reader.exitValue(), line);
                near += Long.parseLong(line.split(" ", 2)[1]);
            }
        }
        System.out.println(near + " READs by readers themselves, of " + owner.lives() + " lives, the longest close "
                + TimeUnit.NANOSECONDS.toMicros(owner.longestCloseNs()) + " us");
        assertTrue(near >= (long) READERS * LIVES, near + " READs by readers themselves");
        assertTrue(owner.longestCloseNs() < TestDevice.DEADLINE_NS, "a reader that was stopped has delayed a close");
    }
}
