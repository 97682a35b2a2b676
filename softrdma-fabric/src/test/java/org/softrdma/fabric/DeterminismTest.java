package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.fabric.memory.Grains;

/** One seed gives one run: in one JVM as often as you like, beside others, and in any other JVM. */
class DeterminismTest {
    private static final long SEED = 20_131;
    private static final int TIMES = 1000 / Integer.getInteger("softrdma.sample", 1);
    private static final int JVMS = 30;
    private static final int AT_ONCE = 4;
    private static final long CHILD_SECONDS = 100;
    private static final FabricSettings SETTINGS = FabricSettings.DEFAULT.with(Grains.WORDS);

    @TempDir
    private Path directory;

    /** Prints the hash of the run, for a JVM of its own. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) {
            System.out.println("hash " + hash());
        }
    }

    private static long hash() {
        Traffic traffic = new Traffic(SEED, SETTINGS);
        traffic.run();
        return traffic.hash();
    }

    private void requireSameInFreshJvms(int jvms) throws Exception {
        String expected = "hash " + hash();
        for (int i = 0; i < jvms; i++) {
            // Another heap and another order of classes, as another machine has.
            List<String> options = List.of("-Xmx" + (64 + 8 * i) + "m", i % 2 == 0 ? "-Xint" : "-XX:+UseParallelGC");
            assertEquals(expected, saidByFreshJvm(options), "in JVM " + i);
        }
    }

    private String saidByFreshJvm(List<String> options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName()));
        Path output = directory.resolve("output");
        Process child = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = child.waitFor(CHILD_SECONDS, TimeUnit.SECONDS);
            String said = Files.readString(output).strip();
            assertTrue(ended, () -> "it did not end: " + said);
            return said;
        } finally {
            child.destroyForcibly();
        }
    }

    @Tag("sampled")
    @Test
    void shouldDoTheSameAThousandTimes() {
        long expected = hash();
        for (int i = 1; i < TIMES; i++) {
            assertEquals(expected, hash(), "run " + i);
        }
    }

    /** All have their memory at the same time, so at different places. */
    @Test
    void shouldDoTheSameWhileOthersRun() throws Exception {
        long expected = hash();
        CyclicBarrier mapped = new CyclicBarrier(AT_ONCE);
        Set<Long> places = ConcurrentHashMap.newKeySet();
        List<Future<Long>> hashes = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(AT_ONCE)) {
            for (int i = 0; i < AT_ONCE; i++) {
                hashes.add(executor.submit(() -> {
                    Traffic traffic = new Traffic(SEED, SETTINGS);
                    traffic.run(() -> mapped.await(30, TimeUnit.SECONDS));
                    places.add(traffic.mappedAt());
                    return traffic.hash();
                }));
            }
            for (Future<Long> hash : hashes) {
                assertEquals(expected, hash.get());
            }
        }
        assertEquals(AT_ONCE, places.size(), () -> "memory was mapped at " + places);
    }

    @Test
    void shouldDoTheSameInAFreshJvm() throws Exception {
        requireSameInFreshJvms(2);
    }

    @Tag("slow")
    @Test
    void shouldDoTheSameInManyFreshJvms() throws Exception {
        requireSameInFreshJvms(JVMS);
    }
}
