package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.MembershipSettings;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/** Machines that share an address space. */
class FarmClusterTest {
    private static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + Long.BYTES;

    private static void run(long seed, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, 3, 1, Set.of()).run(1, body);
    }

    @Test
    void shouldReadAnObjectOfAnotherMachineByOneRead() {
        run(1, cluster -> {
            long address = cluster.node(1).reserve(LENGTH, FarmAddress.NONE);
            cluster.node(1).await(new OwnerChange(cluster.node(1).parts(), address, LENGTH, 7, true));
            ObjectImage first = cluster.node(0).read(address, LENGTH); // asks for the capability
            long reads = cluster.counter(1, "responderReads");
            ObjectImage again = cluster.node(0).read(address, LENGTH);

            assertEquals(7, first.getLong(FarmObjectDescriptor.PAYLOAD_OFFSET));
            assertEquals(7, again.getLong(FarmObjectDescriptor.PAYLOAD_OFFSET));
            assertEquals(1, cluster.counter(1, "responderReads") - reads);
        });
    }

    @Test
    void shouldPutAnObjectNearItsHint() {
        run(2, cluster -> {
            long one = cluster.node(2).reserve(LENGTH, FarmAddress.NONE);
            long other = cluster.node(0).reserve(LENGTH, one);

            assertEquals(2, cluster.configuration().primary(FarmAddress.region(one)));
            assertEquals(FarmAddress.region(one), FarmAddress.region(other));
            assertTrue(FarmAddress.offset(other) >> 10 == FarmAddress.offset(one) >> 10, "another block");
        });
    }

    @Test
    void shouldSayThatARegionIsLost() {
        run(3, cluster -> {
            long address = cluster.node(1).reserve(LENGTH, FarmAddress.NONE);
            cluster.host(1).kill();
            cluster.until(() -> cluster.ensemble().active() == 2);

            FarmException lost =
                    assertThrows(FarmException.class, () -> cluster.node(0).read(address, LENGTH));
            String region = String.format("region %08x", address >>> Integer.SIZE);
            assertTrue(String.valueOf(lost.getMessage()).contains(region + " is lost"), lost.getMessage());
            assertEquals(Set.of(0, 2), cluster.configuration().members());
        });
    }

    @Test
    void shouldGoOnAfterTheSessionAndTheLeaseAreOver() {
        run(4, cluster -> {
            long beganNs = cluster.fabric().clock().nanoTime();
            cluster.host(1).powerOff();
            cluster.until(() -> cluster.ensemble().active() == 2);
            long outageNs = cluster.fabric().clock().nanoTime() - beganNs;

            assertTrue(outageNs < FarmCluster.SESSION_NS + TimeUnit.MILLISECONDS.toNanos(2500), outageNs + " ns");
        });
    }

    /** It is cut off from the membership, and no READ counts: it tries again now and then, and not as fast as it can. */
    @Test
    void shouldReadSeldomWhileItsLeaseIsOver() {
        run(5, cluster -> {
            long address = cluster.node(1).reserve(LENGTH, FarmAddress.NONE);
            cluster.node(1).await(new OwnerChange(cluster.node(1).parts(), address, LENGTH, 7, true));
            ObjectImage before = cluster.node(0).read(address, LENGTH); // asks for the capability
            assertEquals(7, before.getLong(FarmObjectDescriptor.PAYLOAD_OFFSET));
            cluster.fabric().partition(cluster.host(0), cluster.ensemble().node(), TimeUnit.SECONDS.toNanos(10));
            cluster.fabric().scheduler().sleep(MembershipSettings.DEFAULT.leaseNs());
            SimulatedThread reader =
                    cluster.host(0).start("reader", () -> cluster.node(0).read(address, LENGTH));
            long begun = cluster.counter(1, "responderReads");
            cluster.fabric().scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(100));
            long reads = cluster.counter(1, "responderReads") - begun;
            cluster.host(0).kill();

            assertFalse(reader.isEnded(), "a READ counted");
            assertTrue(reads > 0 && reads < 50, reads + " READs"); // a READ here takes a millisecond
        });
    }
}
