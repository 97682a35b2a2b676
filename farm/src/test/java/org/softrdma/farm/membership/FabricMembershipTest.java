package org.softrdma.farm.membership;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.softrdma.fabric.Fabric;

/** The fabric's membership, by a few seeds. */
class FabricMembershipTest extends MembershipContract {
    private static final long SESSION_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(5);
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int SEEDS = 3;

    @Override
    protected void run(Body body) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            run(seed, body);
        }
    }

    private static void run(long seed, Body body) {
        Fabric fabric = Fabric.ofSeed(seed);
        FabricEnsemble ensemble = new FabricEnsemble(fabric, SESSION_NS, Set.of());
        fabric.run(fabric.node("test"), () -> {
            ensemble.start();
            body.run(new Ensemble() {
                private int machines;

                @Override
                public FarmMembership join() {
                    return ensemble.join(fabric.node("m" + machines++));
                }

                @Override
                public void expel(FarmMembership membership) {
                    ensemble.expel(membership.machine());
                }

                @Override
                public void until(BooleanSupplier condition) {
                    long beganNs = fabric.clock().nanoTime();
                    while (!condition.getAsBoolean()) {
                        assertTrue(fabric.clock().nanoTime() - beganNs < PATIENCE_NS, "not yet, seed=" + seed);
                        fabric.scheduler().sleep(MILLISECOND);
                    }
                }
            });
        });
    }
}
