package org.softrdma.suites.walk;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;

/**
 * A plan of faults by a seed: every third seed has one, with resets and delays at any byte of a connection. The others
 * leave it to the walk, whose model then knows of each fault when it happens. Immutable.
 *
 * @param seed decides it
 * @param nodes of the walk
 */
record RandomFaults(long seed, int nodes) {
    private static final int PLANNED = 3;
    private static final int MOST = 4;
    private static final int FARTHEST = 6000;
    private static final long LONGEST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(500);

    static String name(int node) {
        return "node" + node;
    }

    FaultPlan plan() {
        FaultPlan plan = FaultPlan.NONE;
        if (Math.floorMod(seed, PLANNED) != 0) {
            return plan;
        }
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        for (int i = 1 + random.nextInt(MOST); i > 0; i--) {
            int from = random.nextInt(nodes);
            int to = (from + 1 + random.nextInt(nodes - 1)) % nodes;
            When when = new When.AfterBytes(name(from), name(to), random.nextInt(FARTHEST));
            What what = random.nextBoolean() ? new What.Reset() : new What.Delay(random.nextLong(LONGEST_DELAY_NS));
            plan = plan.and(new Fault(when, what, 1000, 1 + random.nextInt(3)));
        }
        return plan;
    }
}
