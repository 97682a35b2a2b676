package org.softrdma.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreCounters;

/** The load, over connections to a map. */
class MixLoadTest {
    private static final int PAIRS = 100;
    private static final int CONNECTIONS = 3;
    private static final int WINDOW = 4;
    private static final int OPERATIONS = 20_000;
    private static final int LENGTH = 32;
    private static final double TOLERANCE = 0.02;

    private final MixPairs pairs = new MixPairs(PAIRS, LENGTH);
    private final MapConnections connections = new MapConnections();
    private final MixLoad load = new MixLoad(connections, pairs, WINDOW, () -> 0L, () -> {});

    /** Answers at the next poll; one result in so many is spoilt. */
    private static final class MapConnections implements StoreConnections {
        private final Map<String, byte[]> map = new HashMap<>();
        private final Queue<Runnable> answers = new ArrayDeque<>();
        private final int[] outstanding = new int[CONNECTIONS];
        private final List<String> asked = new ArrayList<>();
        private ResultHandler results = (tag, outcome, memory, offset, length) -> {};
        private boolean spoilt;
        private boolean full;
        private int refusals;
        private int most;

        @Override
        public int count() {
            return CONNECTIONS;
        }

        private static String text(byte[] key) {
            return new String(key, StandardCharsets.US_ASCII);
        }

        private boolean refuses() {
            refusals++;
            return refusals % 3 == 0;
        }

        private void take(int connection, Runnable answer) {
            outstanding[connection]++;
            most = Math.max(most, outstanding[connection]);
            answers.add(() -> {
                outstanding[connection]--;
                answer.run();
            });
        }

        @Override
        public boolean startGet(int connection, byte[] key, long tag) {
            if (refuses()) {
                return false;
            }
            asked.add("get " + text(key));
            byte[] found = map.get(text(key));
            byte[] value = found == null ? null : found.clone();
            if (value != null && spoilt) {
                value[LENGTH - 1]++;
            }
            take(
                    connection,
                    () -> results.onResult(
                            tag,
                            value == null ? Outcome.MISSING : Outcome.FOUND,
                            value == null ? MemorySegment.NULL : MemorySegment.ofArray(value),
                            0,
                            value == null ? 0 : value.length));
            return true;
        }

        @Override
        public boolean startPut(int connection, byte[] key, MemorySegment value, long tag) {
            if (refuses()) {
                return false;
            }
            asked.add("put " + text(key));
            map.put(text(key), value.toArray(ValueLayout.JAVA_BYTE));
            take(
                    connection,
                    () -> results.onResult(tag, full ? Outcome.FULL : Outcome.STORED, MemorySegment.NULL, 0, 0));
            return true;
        }

        @Override
        public int poll(ResultHandler handler) {
            results = handler;
            int count = (answers.size() + 1) / 2;
            for (int i = 0; i < count; i++) {
                answers.remove().run();
            }
            return count;
        }

        @Override
        public StoreCounters counters() {
            return new StoreCounters();
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private MixOutcome run(Mix mix) {
        connections.asked.clear();
        return load.run(mix, new KeyChoice(PAIRS, 0.99, 7), WINDOW, MixLoad.End.after(OPERATIONS));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAskForWhatTheMixHas(Mix mix) {
        load.insertAll();
        load.getAll(false);
        MixOutcome outcome = run(mix);
        assertEquals(Map.of(), outcome.errors());
        assertTrue(outcome.operations() >= OPERATIONS && outcome.operations() <= OPERATIONS + CONNECTIONS * WINDOW);
        assertEquals(outcome.gets(), outcome.getLatencies().getTotalCount());
        assertEquals(outcome.puts(), outcome.putLatencies().getTotalCount());
        // A turn of F that writes reads first: 3 operations of 2 turns.
        double gets = mix == Mix.F ? 2.0 / 3 : mix.getPercent() / 100.0;
        assertEquals(gets, (double) outcome.gets() / outcome.operations(), TOLERANCE);
        assertEquals(WINDOW, connections.most);
    }

    @Test
    void shouldWriteWhatItHasRead() {
        load.insertAll();
        MixOutcome ignored = run(Mix.F);
        Map<String, Integer> read = new HashMap<>();
        for (String each : connections.asked) {
            String key = each.substring("get ".length());
            if (each.startsWith("get ")) {
                read.merge(key, 1, Integer::sum);
            } else {
                assertTrue(read.merge(key, -1, Integer::sum) >= 0, each + " was not read before");
            }
        }
    }

    @Test
    void shouldPreferTheLatest() {
        load.insertAll();
        MixOutcome ignored = run(Mix.D);
        int lastWritten = PAIRS - 1;
        long recent = 0;
        long gets = 0;
        for (String each : connections.asked) {
            int pair = Integer.parseInt(each.substring("get pair".length()));
            if (each.startsWith("put ")) {
                assertEquals((lastWritten + 1) % PAIRS, pair);
                lastWritten = pair;
            } else {
                gets++;
                recent += Math.floorMod(lastWritten - pair, PAIRS) < PAIRS / 10 ? 1 : 0;
            }
        }
        assertTrue(recent > gets / 3, recent + " of " + gets + " GETs wanted the tenth that was written last");
    }

    @Test
    void shouldAskTheSameForTheSameSeed() {
        load.insertAll();
        MixOutcome ignored = run(Mix.A);
        List<String> first = List.copyOf(connections.asked);
        connections.refusals = 1; // refuses at other times
        MixOutcome again = run(Mix.A);
        List<String> second = List.copyOf(connections.asked);
        assertEquals(
                first.stream().filter(each -> each.startsWith("put")).count(),
                second.stream().filter(each -> each.startsWith("put")).count());
        assertEquals(first.size(), second.size());
        assertEquals(again.operations(), second.size());
    }

    @Test
    void shouldCountWhatIsWrong() {
        assertEquals(
                Map.of(MixOutcome.Fault.MISSING, (long) OPERATIONS), run(Mix.C).errors());
        load.insertAll();
        connections.spoilt = true;
        MixOutcome wrong = run(Mix.C);
        assertEquals(Map.of(MixOutcome.Fault.WRONG_VALUE, (long) OPERATIONS), wrong.errors());
        assertEquals(0, wrong.gets());
        assertEquals(OPERATIONS, wrong.failed(true));
        assertThrows(MeasurementException.class, () -> load.getAll(true));
        connections.full = true;
        MeasurementException refused = assertThrows(MeasurementException.class, load::insertAll);
        assertTrue(String.valueOf(refused.getMessage()).contains("FULL=100"), refused::toString);
    }

    @Test
    void shouldForgiveMissesOfAStoreThatLosesPairs() {
        MixOutcome missed = run(Mix.C);
        assertEquals(0, missed.failed(true));
        assertEquals(OPERATIONS, missed.failed(false));
        load.getAll(true);
        assertThrows(MeasurementException.class, () -> load.getAll(false));
    }

    @Test
    void shouldTellHalvesOfTwoValuesFromAValue() {
        byte[] first = pairs.next(5).toArray(ValueLayout.JAVA_BYTE);
        byte[] second = pairs.next(5).toArray(ValueLayout.JAVA_BYTE);
        assertTrue(pairs.isValue(5, MemorySegment.ofArray(first), 0, LENGTH));
        assertTrue(pairs.isValue(5, MemorySegment.ofArray(second), 0, LENGTH));
        assertTrue(!pairs.isValue(6, MemorySegment.ofArray(first), 0, LENGTH));
        assertTrue(!pairs.isValue(5, MemorySegment.ofArray(first), 0, LENGTH - 1));
        System.arraycopy(second, LENGTH / 2, first, LENGTH / 2, LENGTH / 2);
        assertTrue(!pairs.isValue(5, MemorySegment.ofArray(first), 0, LENGTH));
    }

    @Test
    void shouldRefuseWhatItCannotDo() {
        assertThrows(
                IllegalArgumentException.class,
                () -> load.run(Mix.C, new KeyChoice(PAIRS, 0, 1), WINDOW + 1, MixLoad.End.after(1)));
        assertThrows(IllegalArgumentException.class, () -> new KeyChoice(1, 0.5, 1));
        assertThrows(IllegalArgumentException.class, () -> new KeyChoice(2, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> Mix.named("E"));
        assertEquals(Mix.A, Mix.named("a"));
    }
}
