package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.sim.fabric.Fabric;
import org.softrdma.sim.fabric.FabricNode;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Words and entries that a GET reads where 20 % of the slots are in use, the paper's load (section 6), with three
 * slots a key: "no statistically significant gain from reserving 11 bits instead of 7" (section 6.2), as 7 leave
 * nothing to gain. Counted by the nodes' devices and by the client.
 */
class NessieReadsTest {
    private static final int LOG_WORDS = 15;
    private static final int PAIRS = (1 << LOG_WORDS) / 5;
    private static final int KEY = 16;
    private static final int WINDOW = 16;
    private static final double TOLERANCE = 0.02;

    @ParameterizedTest
    @CsvSource({"0, 1.118", "4, 1.007", "7, 1.0008", "11, 1.0000"})
    void shouldReadAsOftenAsTheFilterBitsLetIt(int filterBits, double entries) {
        Fabric fabric = Fabric.ofSeed(filterBits);
        FabricNode machine = fabric.node("client");
        NessieNodes nodes = new NessieNodes(
                fabric,
                1,
                Protocol.SAFE,
                Map.of("index", "" + LOG_WORDS, "entries", "13", "filter", "" + filterBits),
                context -> context.steps(MemorySteps.OF_JVM).maxKeyLength(KEY).maxValueLength(0));
        fabric.run(machine, () -> {
            nodes.start();
            try (VerbsDevice device = machine.open(Map.of())) {
                try (StoreClient writer = client(nodes, device);
                        StoreClient store = client(nodes, device)) {
                    doAll(writer, Outcome.STORED, i -> writer.startPut(key(i), MemorySegment.NULL, i));
                    Map<String, Long> before = nodes.server(0).device().counters();
                    doAll(store, Outcome.FOUND, i -> store.startGet(key(i), i));
                    check(
                            filterBits,
                            entries,
                            store.counters(),
                            before,
                            nodes.server(0).device().counters());
                }
            }
            nodes.stop();
        });
    }

    private static StoreClient client(NessieNodes nodes, VerbsDevice device) {
        return new NessieDesign()
                .connect(
                        device,
                        nodes.client()
                                .window(WINDOW)
                                .maxKeyLength(KEY)
                                .maxValueLength(0)
                                .timeoutNs(Long.MAX_VALUE / 4)
                                .options(Map.of("cache", "0", "stock", "1024"))
                                .conclude());
    }

    private static void check(
            int filterBits, double entries, StoreCounters counters, Map<String, Long> before, Map<String, Long> after) {
        long reads = counters.get(StoreCounter.READS);
        assertEquals(after.getOrDefault("responderReads", 0L) - before.getOrDefault("responderReads", 0L), reads);
        assertEquals(
                after.getOrDefault("responderReadBytes", 0L) - before.getOrDefault("responderReadBytes", 0L),
                counters.get(StoreCounter.READ_BYTES));
        double words = (double) counters.get(StoreCounter.PROBES) / PAIRS;
        double data = (double) reads / PAIRS - words;
        System.out.printf(Locale.ROOT, "%d filter bits: %.4f words, %.4f entries per GET%n", filterBits, words, data);
        assertEquals(1.12, words, 1.12 * TOLERANCE);
        assertEquals(entries, data, entries * TOLERANCE);
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(KEY).putLong(number).putLong(~number).array();
    }

    private interface Start {
        boolean start(int number);
    }

    private static void doAll(StoreClient store, Outcome expected, Start start) {
        int started = 0;
        int[] ended = new int[1];
        IntConsumer count = i -> ended[0] += i;
        while (ended[0] < PAIRS) {
            while (started < PAIRS && start.start(started)) {
                started++;
            }
            count.accept(store.await(
                    Long.MAX_VALUE / 4, (tag, outcome, memory, offset, length) -> assertEquals(expected, outcome)));
        }
    }
}
