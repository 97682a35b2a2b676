package org.softrdma.sim.roce.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Timers come in the order of their times, and none is lost, whatever is set, cancelled and removed between. */
class CmTimersTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 36L);
    private static final int STEPS = 20_000;
    private static final int LATEST = 100;
    private static final long NEVER = Long.MAX_VALUE;

    private final CmTimers timers = new CmTimers();
    private final List<Alarm> expired = new ArrayList<>();

    /** A timer, and what a test knows of it. */
    private final class Alarm extends CmTimers.Timer {
        private final boolean kept;
        private long dueNs = NEVER;
        private long order;
        private int failures;

        Alarm(boolean kept) {
            this.kept = kept;
            if (kept) {
                timers.keep(this);
            }
        }

        void set(long ns, long newOrder) {
            dueNs = ns;
            order = newOrder;
            timers.set(this, ns);
        }

        @Override
        void expired(long nowNs) {
            if (failures > 0) {
                failures--;
                throw new OutOfMemoryError("as on a full heap");
            }
            dueNs = NEVER;
            expired.add(this);
        }
    }

    private static List<Alarm> due(List<Alarm> all, long nowNs) {
        return all.stream()
                .filter(alarm -> alarm.dueNs <= nowNs)
                .sorted(Comparator.<Alarm>comparingLong(alarm -> alarm.dueNs).thenComparingLong(alarm -> alarm.order))
                .toList();
    }

    @Test
    void shouldExpireWhatIsDueInItsOrder() {
        Random random = new Random(SEED);
        List<Alarm> all = new ArrayList<>();
        long now = 0;
        for (int step = 0; step < STEPS; step++) {
            Alarm one = all.isEmpty() ? null : all.get(random.nextInt(all.size()));
            int choice = random.nextInt(10);
            if (one == null || choice == 0) {
                all.add(new Alarm(random.nextBoolean()));
            } else if (choice < 5) {
                one.set(now + random.nextInt(LATEST), step);
            } else if (choice < 7) {
                one.cancel();
                one.dueNs = NEVER;
            } else if (choice == 7 && one.kept) {
                timers.remove(one);
                all.remove(one);
            } else if (choice == 8) {
                now += random.nextInt(LATEST);
                List<Alarm> expected = due(all, now);
                expired.clear();
                timers.expire(now);
                assertEquals(expected, expired, "seed " + SEED + ", step " + step);
            }
            long first = all.stream().mapToLong(alarm -> alarm.dueNs).min().orElse(NEVER);
            assertEquals(first, timers.nextNs(), "seed " + SEED + ", step " + step);
        }
    }

    @Test
    void shouldExpireAgainWhenThereWasNoMemory() {
        Alarm kept = new Alarm(true);
        Alarm other = new Alarm(false);
        kept.failures = 2;
        other.failures = 1;
        kept.set(10, 1);
        other.set(10, 2);
        timers.expire(10);
        assertEquals(List.of(), expired);
        long again = timers.nextNs();
        assertTrue(again > 10 && again < NEVER, "again at " + again);
        timers.expire(again);
        assertEquals(List.of(other), expired);
        timers.expire(timers.nextNs());
        assertEquals(List.of(other, kept), expired);
        assertEquals(NEVER, timers.nextNs());
    }
}
