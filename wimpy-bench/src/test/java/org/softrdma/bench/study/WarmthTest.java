package org.softrdma.bench.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.ThreadClass;
import org.softrdma.bench.measurement.MedianOfRounds;

class WarmthTest {
    private static final int LEAST = 3;

    /** What a server used that compiled for so long. */
    private static CpuUse use(long jitNs) {
        return new CpuUse(
                1000,
                800,
                0,
                600,
                200,
                Map.of(ThreadClass.RNIC, 800 - jitNs, ThreadClass.JIT, jitNs),
                Map.of(ThreadClass.RNIC, 400 - jitNs, ThreadClass.JIT, jitNs));
    }

    @Test
    void shouldLoadAServerUntilItCompilesNoMore() {
        List<String> loaded = new ArrayList<>();
        int[] passes = new int[1];
        Warmth.warmUp(LEAST, List.of("warm", "cold", "never", "native"), row -> !row.equals("native"), row -> {
            loaded.add(row);
            passes[0] += row.equals("cold") ? 1 : 0;
            return Optional.of(use(
                    switch (row) {
                        case "cold" -> passes[0] < 5 ? 300 : 80;
                        case "never", "native" -> 300;
                        default -> 80;
                    }));
        });
        assertEquals(LEAST, count(loaded, "warm"));
        assertEquals(5, count(loaded, "cold"));
        assertEquals(Warmth.MOST_PASSES, count(loaded, "never"));
        assertEquals(LEAST, count(loaded, "native"));
        assertEquals(List.of("warm", "cold", "never", "native"), loaded.subList(0, 4), "all of them in each pass");
    }

    @Test
    void shouldTakeAServerForWarmThatTellsNothing() {
        List<String> loaded = new ArrayList<>();
        Warmth.warmUp(LEAST, List.of("elsewhere"), row -> true, row -> {
            loaded.add(row);
            return Optional.empty();
        });
        assertEquals(LEAST, loaded.size());
    }

    private static long count(List<String> loaded, String row) {
        return loaded.stream().filter(row::equals).count();
    }

    @Test
    void shouldCallAServerWarmThatCompilesNextToNothing() {
        assertTrue(Warmth.isWarm(0.1, 0.5));
        assertFalse(Warmth.isWarm(0.11, 0.5));
        assertTrue(Warmth.isWarm(0.9, 0.01), "of a server that has nothing to do");
    }

    @Test
    void shouldCountTheCompilerApart() {
        RoundMeter.Reading reading = new RoundMeter.Reading(Optional.of(use(300)), use(0), 900);
        assertEquals(0.5, reading.serverMicros(1), 1e-9);
        assertEquals(0.3, reading.compilerMicros(1), 1e-9);
        assertEquals(0.1, reading.serverUserMicros(1), 1e-9);
        assertEquals(0.4, reading.serverSystemMicros(1), 1e-9);
        RoundMeter.Reading whole = new RoundMeter.Reading(Optional.of(CpuUse.ofWhole(1000, 200, 600)), use(0), 900);
        assertEquals(0.8, whole.serverMicros(1), 1e-9);
        assertEquals(0.2, whole.serverUserMicros(1), 1e-9);
        assertEquals(0, whole.compilerMicros(1), 1e-9);
    }

    @Test
    void shouldCallRoundsNoisyThatLieFarApart() {
        assertTrue(MedianOfRounds.isNoisy(List.of(50.132, 49.520, 134.774), 0));
        assertFalse(MedianOfRounds.isNoisy(List.of(50.132, 49.520, 134.774, 51.0), 0), "one of four");
        assertTrue(MedianOfRounds.isNoisy(List.of(50.132, 49.520, 134.774, 131.0), 0), "two of four");
        assertFalse(MedianOfRounds.isNoisy(List.of(0.01, 0.02, 0.03), 0.05), "a detail");
        assertTrue(MedianOfRounds.isNoisy(List.of(0.01, 0.02, 0.03), 0));
        assertFalse(MedianOfRounds.isNoisy(List.of(8.0), 0));
        assertFalse(MedianOfRounds.isNoisy(List.of(Double.NaN, Double.NaN), 0), "not measured");
        assertEquals(
                Optional.of(new MedianOfRounds.Spread(1, 3)),
                MedianOfRounds.spread(List.of(2.0, 3.0, Double.NaN, 1.0)));
        assertEquals(Optional.empty(), MedianOfRounds.spread(List.of(Double.NaN)));
    }
}
