package org.softrdma.bench.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.MedianOfRounds;

class ProcParsersTest {
    private static final String STAT = """
            cpu  39916 0 7728 192954 442 0 2117 964 0 0
            cpu0 20081 0 3486 97188 36 0 841 419 0 0
            cpu1 19834 0 4242 95765 405 0 1275 545 0 0
            cpu10 1 2 3 4 5 6 7 8 9 10
            intr 12345
            """;

    @Test
    void shouldReadAThreadWhoseNameHoldsBlanksAndParentheses() {
        CpuClock.ThreadTime time = CpuClock.parse(
                "123456789 42 7", "77 (C2 (a) b) R 1 77 77 0 -1 4194304 1 0 0 0 250 31 0 0 20 0 1 0 99 0 0\n");

        assertEquals(new CpuClock.ThreadTime("C2 (a) b", 123456789L, 42, 2_500_000_000L, 310_000_000L), time);
    }

    @Test
    void shouldAddUpTheThreadsOfAClass() {
        CpuClock.Sample before = new CpuClock.Sample(
                1000, Map.of("1", new CpuClock.ThreadTime("rnic-0", 500, 0, 0, 0), "2", time("C2 CompilerThre", 10)));
        CpuClock.Sample after = new CpuClock.Sample(
                3000, Map.of("1", time("rnic-0", 1500), "2", time("C2 CompilerThre", 10), "3", time("rnic-1", 200)));

        CpuUse use = after.since(before);

        assertEquals(2000, use.wallNs());
        assertEquals(1200, use.totalNs());
        assertEquals(Map.of(ThreadClass.RNIC, 1200L), use.byClassNs());
        assertEquals(0.6, use.microsPer(2), 1e-9);
        assertEquals("rnic 0.600", use.describeClasses(2));
    }

    private static CpuClock.ThreadTime time(String name, long runNs) {
        return new CpuClock.ThreadTime(name, runNs, 0, 0, 0);
    }

    @ParameterizedTest
    @CsvSource({
        "rnic-0,RNIC",
        "kv-rdma-complet,STORE",
        "kv-maintenance,STORE",
        "kv-memcached-1-,MEMCACHED",
        "C2 CompilerThre,JIT",
        "C1 CompilerThre,JIT",
        "GC Thread#0,GC",
        "G1 Conc#0,GC",
        "VM Thread,JVM",
        "Reference Handl,JVM",
        "java,OTHER",
        "read_responder,RNIC",
        "redis-server,OTHER"
    })
    void shouldTellAThreadsClassByItsName(String name, ThreadClass expected) {
        assertEquals(expected, ThreadClass.of(name));
    }

    @Test
    void shouldCountIdleWaitAndStolenTicksOfOneCore() {
        assertEquals(97188 + 36 + 419, CoreClock.idleTicks(STAT, 0));
        assertEquals(95765 + 405 + 545, CoreClock.idleTicks(STAT, 1));
        assertEquals(0, CoreClock.idleTicks(STAT, 2));
    }

    @Test
    void shouldCallNotIdleWhatIsLeftOfTheTime() {
        CoreClock.Sample before = new CoreClock.Sample(0, 0, 2);

        assertEquals(1500, new CoreClock.Sample(1000, 500, 2).busyNsSince(before));
        assertEquals(0, new CoreClock.Sample(1000, 2500, 2).busyNsSince(before));
    }

    @Test
    void shouldReadTheClocksOfThisMachineWhereTheKernelOffersThem() {
        CpuClock clock = CpuClock.ofThisProcess();
        if (clock.available()) {
            CpuUse use = clock.sample().since(clock.sample());
            assertTrue(use.totalNs() <= 0, "the later sample must be the later one");
            assertTrue(clock.sample().since(new CpuClock.Sample(0, Map.of())).totalNs() > 0);
        }
        if (CoreClock.available()) {
            CoreClock cores = new CoreClock(List.of(0));
            CoreClock.Sample before = cores.sample();
            assertTrue(cores.sample().busyNsSince(before) >= 0);
        }
    }

    @Test
    void shouldFindModelMemoryAndSetting() {
        assertEquals("Foo CPU", MachineDescription.cpuModel("processor : 0\nmodel name\t: Foo CPU\n", "amd64"));
        assertEquals("aarch64 part 0xd0c", MachineDescription.cpuModel("CPU part\t: 0xd0c\n", "aarch64"));
        assertEquals("aarch64", MachineDescription.cpuModel("", "aarch64"));
        assertEquals(2048, MachineDescription.memoryBytes("MemTotal:       2 kB\n"));
        assertEquals(0, MachineDescription.memoryBytes(""));
        assertEquals("madvise", MachineDescription.chosen("always [madvise] never"));
        assertFalse(MachineDescription.here(null).jdk().isBlank());
    }

    @Test
    void shouldTakeMediansOfRoundsAndOfRatiosWithinThem() {
        MedianOfRounds rounds = new MedianOfRounds();
        Stream.of(1.0, 9.0, 2.0).forEach(value -> rounds.add("a", value));
        Stream.of(1.0, 3.0, 4.0).forEach(value -> rounds.add("b", value));

        assertEquals(2.0, rounds.median("a"));
        assertEquals(1.0, rounds.medianRatio("a", "b"));
        rounds.add("a", 4.0);
        assertEquals(3.0, rounds.median("a"));
        assertTrue(Double.isNaN(rounds.median("c")));
        assertEquals(List.of(1.0, 9.0, 2.0, 4.0), rounds.values("a"));
    }

    @Test
    void shouldPutNothingBeforeACommandThatIsNotToBePinned() {
        assertEquals(List.of(), Pinning.detect().prefix(-1));
    }
}
