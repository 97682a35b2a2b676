package org.softrdma.bench.wimpy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.Mockito;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.study.SystemList;
import org.softrdma.bench.workload.GetLoad;
import org.softrdma.bench.workload.TcpCommands;

/** Which rows there are, and what becomes of systems that are not. */
class WimpyPlanTest {
    private static WimpyPlan plan(List<Integer> lengths, List<Integer> windows, List<Integer> throttles) {
        return new WimpyPlan(
                "test",
                lengths,
                windows,
                8,
                1000,
                throttles,
                List.of(1, 2),
                List.of(1000, 10_000),
                true,
                Set.of(),
                new WimpyPlan.Timing(1, 1, 9),
                Cores.of(3));
    }

    private static MeasuredSystem system(MeasuredSystem.Kind kind, TcpCommands command) {
        return new MeasuredSystem(
                kind,
                kind.name(),
                null,
                command.getLabel(),
                new MeasuredSystem.Server(Mockito.mock(GetLoad.class), Mockito.mock(ServerMeter.class), null));
    }

    @Test
    void shouldLetServersOfOneKindTakeTurns() {
        MeasuredSystem.Server first = server();
        MeasuredSystem.Server second = server();
        MeasuredSystem system = new MeasuredSystem(
                MeasuredSystem.Kind.SOFTRDMA_TCP, MeasuredSystem.OURS, null, "mg", List.of(first, second));

        assertEquals(List.of(first, second, first), List.of(system.server(0), system.server(1), system.server(2)));
    }

    private static MeasuredSystem.Server server() {
        return new MeasuredSystem.Server(Mockito.mock(GetLoad.class), Mockito.mock(ServerMeter.class), null);
    }

    @Test
    void shouldThrottleAndSpreadOnlyWithTheWidestWindow() {
        WimpyPlan plan = plan(List.of(1024, 10240, 100), List.of(1, 16), List.of(100, 50));
        List<MeasuredSystem> systems = List.of(
                system(MeasuredSystem.Kind.MEMCACHED, TcpCommands.META),
                system(MeasuredSystem.Kind.MEMCACHED, TcpCommands.MULTI_KEY));
        List<WimpyRow> rows = plan.rows(systems, 1);
        // Three lengths: two windows of mg and one of many keys at full speed, the wider of both at half.
        assertEquals(3 * 3 + 3 * 2, rows.size());
        assertTrue(rows.stream().noneMatch(row -> row.throttlePercent == 50 && row.window == 1));
        assertEquals(3 * 2, plan.rows(systems, 2).size());
        assertTrue(plan.rows(systems, 2).stream().allMatch(row -> row.serverCores == 2 && row.throttlePercent == 100));
        assertEquals(1024, plan.middleValueLength());
        assertEquals(1000L * (1024 + 10240 + 100), plan.totalBytes());
    }

    @Test
    void shouldMeasureEachSpeedOverEachLinkWithTheWidestWindow() {
        WimpyPlan plan = plan(List.of(1024, 100), List.of(1, 16), List.of(100, 50));
        List<WimpyRow> rows = plan.linkRows(List.of(system(MeasuredSystem.Kind.MEMCACHED, TcpCommands.CLASSIC)));
        assertEquals(2 * 2 * 2, rows.size());
        assertTrue(rows.stream().allMatch(row -> row.window == 16 && row.serverCores == 1));
        assertEquals("1 Gbit/s", rows.getFirst().link());
        assertEquals("10 Gbit/s", rows.getLast().link());
        assertFalse(rows.getFirst().sameCell(rows.getFirst().over(10_000)));
    }

    @Test
    void shouldWarmUpVirtualMachinesLongerAndFewRowsAsLongAsMany() {
        WimpyPlan plan = plan(List.of(1), List.of(1), List.of(100));
        MeasuredSystem ours = system(MeasuredSystem.Kind.SOFTRDMA_READ, TcpCommands.META);
        assertEquals(9_000_000, plan.warmUpNs(ours, 6));
        assertEquals(9_000_000, plan.warmUpNs(ours, 20));
        assertEquals(27_000_000, plan.warmUpNs(ours, 2));
        assertEquals(3_000_000, plan.warmUpNs(system(MeasuredSystem.Kind.MEMCACHED, TcpCommands.META), 6));
    }

    @Test
    void shouldSeparateLoadAndServersWhereThereAreTwoCores() {
        assertEquals(new Cores(0, List.of(1, 2, 3)), Cores.of(4));
        assertEquals(new Cores(0, List.of(1)), Cores.of(2));
        assertEquals(new Cores(-1, List.of()), Cores.of(1));
    }

    @Test
    void shouldSayWhichOptionIsWrong() {
        List<Integer> one = List.of(1);
        refused("--sizes 0: expected 1 to 921600", () -> plan(List.of(0), one, one));
        refused("--sizes 2147483647: expected 1 to 921600", () -> plan(List.of(Integer.MAX_VALUE), one, one));
        refused("--sizes [7, 7]: duplicate value", () -> plan(List.of(7, 7), one, one));
        refused("--window 513: expected 1 to 512", () -> plan(one, List.of(513), one));
        refused("--throttle 101: expected 1 to 100", () -> plan(one, one, List.of(100, 101)));
        refused("--throttle: no value", () -> plan(one, one, List.of()));
    }

    private static void refused(String message, Runnable making) {
        IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, making::run);
        assertTrue(String.valueOf(failure.getMessage()).startsWith(message), failure.getMessage());
    }

    @Test
    void shouldSkipSystemsThatFailAndGoOn() {
        List<String> said = new ArrayList<>();
        SystemList<MeasuredSystem> list = new SystemList<>(said::add);
        list.attempt("C floor", () -> {
            throw new MeasurementException("there is no C compiler");
        });
        list.attempt("memcached", () -> list.add(system(MeasuredSystem.Kind.MEMCACHED, TcpCommands.META)));
        assertEquals("there is no C compiler", list.skipped().get("C floor"));
        assertEquals(List.of("skipping C floor: there is no C compiler"), said);
        assertEquals(1, list.systems().size());
        assertThrows(
                IllegalStateException.class,
                () -> list.attempt("redis", () -> {
                    throw new IllegalStateException("a fault of ours is not a reason to skip");
                }));
    }

    @Test
    void shouldTellTheFirstLineOfAServerThatDoesNotStart() {
        ServerProcess.Resources resources = new ServerProcess.Resources(List.of(), 1, 1 << 20, 1024);
        List<String> refusing =
                List.of("sh", "-c", "echo \"Unknown option: '--registration'\" >&2; echo more >&2; exit 2");
        MeasurementException failure = assertThrows(
                MeasurementException.class,
                () -> ServerProcess.softrdma(refusing, resources, List.of("--registration", "chunk")));
        assertEquals("Unknown option: '--registration'", failure.getMessage());
    }

    @Test
    void shouldFindProgramsOnThePathOnly(@TempDir Path empty) {
        assertEquals(Optional.of(Path.of("/bin/sh")), ServerProcess.find("sh", empty + "::/bin"));
        assertEquals(Optional.empty(), ServerProcess.find("sh", empty.toString()));
    }
}
