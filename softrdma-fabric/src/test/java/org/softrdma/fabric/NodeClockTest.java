package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Clocks of nodes, and deaths at named steps. */
class NodeClockTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long nowNs = 5 * SECOND;
    private final NodeClock clock = new NodeClock(() -> nowNs);

    @Test
    void shouldTellTheTimeOfTheRunUnlessToldOtherwise() {
        assertEquals(nowNs, clock.nanoTime());
        nowNs += SECOND;
        assertEquals(nowNs, clock.nanoTime());
    }

    @Test
    void shouldGainAndLoseWithoutAJump() {
        clock.drift(10_000);
        nowNs += 100 * SECOND;
        assertEquals(nowNs + SECOND, clock.nanoTime());

        clock.drift(-10_000);
        assertEquals(nowNs + SECOND, clock.nanoTime());
        nowNs += 100 * SECOND;
        assertEquals(nowNs, clock.nanoTime());

        assertThrows(IllegalArgumentException.class, () -> clock.drift(-1_000_000));
    }

    @Test
    void shouldStandStillAndThenGoOnBehind() {
        clock.halt(3 * SECOND);
        long before = clock.nanoTime();
        nowNs += 2 * SECOND;
        assertEquals(before, clock.nanoTime());
        clock.drift(0);
        nowNs += SECOND;
        assertEquals(before, clock.nanoTime());
        nowNs += SECOND;
        assertEquals(before + SECOND, clock.nanoTime());
    }

    @Test
    void shouldGiveEachNodeAClockOfItsOwn() {
        Fabric fabric = Fabric.ofSeed(7);
        FabricNode one = fabric.node("one");
        FabricNode other = fabric.node("other");
        one.driftClock(500_000);
        fabric.run(one, () -> {
            long behindNs = one.clock().nanoTime() - fabric.clock().nanoTime();
            fabric.scheduler().sleep(2 * SECOND);
            assertTrue(one.clock().nanoTime() - fabric.clock().nanoTime() - behindNs >= SECOND);
            assertEquals(fabric.clock().nanoTime(), other.clock().nanoTime());
        });
    }

    @Test
    void shouldDieAtTheNamedStepAndDoNothingBehindIt() {
        Fabric fabric = Fabric.ofSeed(8);
        FabricNode test = fabric.node("test");
        FabricNode victim = fabric.node("victim");
        victim.killAt("commit", 2);
        List<String> done = new ArrayList<>();
        fabric.run(test, () -> {
            victim.start("program", () -> {
                for (String step : List.of("commit", "prepare", "commit", "commit")) {
                    victim.step(step);
                    done.add(step);
                }
            });
            fabric.scheduler().sleep(SECOND);
            assertFalse(victim.isAlive());
            assertEquals(List.of("commit", "prepare"), done);
        });
    }

    @Test
    void shouldTellWhetherNodesReachEachOther() {
        Fabric fabric = Fabric.ofSeed(9);
        FabricNode one = fabric.node("one");
        FabricNode other = fabric.node("other");
        fabric.run(one, () -> {
            assertTrue(fabric.reaches(one, other));
            fabric.partition(one, other, SECOND);
            assertFalse(fabric.reaches(one, other));
            assertFalse(fabric.reaches(other, one));
            fabric.scheduler().sleep(2 * SECOND);
            assertTrue(fabric.reaches(one, other));
            other.powerOff();
            assertFalse(fabric.reaches(one, other));
        });
    }
}
