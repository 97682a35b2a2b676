package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.node.SpareReservations.Reservation;

/**
 * Reserves room for an object: on the primary of a hint's region, else here, or anywhere if this machine makes no
 * regions. The node's thread.
 */
final class SpaceAllocation extends NodeTask {
    private static final int MOST_FAILURES = 1000;

    private final NodeParts node;
    private final int length;
    private final long hint;
    private boolean asking;
    private long notBeforeNs = Long.MIN_VALUE;
    private int failures;
    private @Nullable Reservation reservation;

    SpaceAllocation(NodeParts node, int length, long hint) {
        this.node = node;
        this.length = length;
        this.hint = hint;
    }

    /** The room, once it is done. */
    Reservation reservation() {
        return Objects.requireNonNull(reservation);
    }

    @Override
    boolean advance(long nowNs) {
        if (reservation != null) {
            return true;
        }
        if (failures >= MOST_FAILURES) {
            return fail("no room for an object of " + length + " bytes");
        }
        if (!asking && nowNs >= notBeforeNs && node.member().isRunning()) {
            reservation =
                    node.spareReservations().take(length, hint, node.member().epoch());
            if (reservation != null) {
                return true;
            }
            if (hint != FarmAddress.NONE && isUnknown(FarmAddress.region(hint))) {
                notBeforeNs = node.pauseUntilNs(nowNs, ++failures); // it is so new that nobody has told of it yet
                return false;
            }
            int machine = machine();
            if (machine == RegionPlacement.LOST) {
                return fail("no machine has a region");
            }
            asking = true;
            node.request(machine, Allocations.request(length, hint), this::onAnswer);
        }
        return reservation != null;
    }

    private boolean isUnknown(int region) {
        return !node.space().configuration().regions().containsKey(region);
    }

    private int machine() {
        int primary = hint == FarmAddress.NONE
                ? RegionPlacement.LOST
                : node.space().configuration().primary(FarmAddress.region(hint));
        if (primary != RegionPlacement.LOST || node.context().regions() > 0) {
            return primary != RegionPlacement.LOST ? primary : node.machine();
        }
        int[] primaries = node.space().configuration().regions().values().stream()
                .mapToInt(RegionPlacement::primary)
                .filter(machine -> machine != RegionPlacement.LOST)
                .toArray();
        return primaries.length == 0
                ? RegionPlacement.LOST
                : primaries[node.context().random().nextInt(primaries.length)];
    }

    private void onAnswer(ByteBuffer answer) {
        asking = false;
        if (NodeMessageDescriptor.verdict(answer) == NodeVerdict.REFUSED) {
            failures = MOST_FAILURES;
            return;
        }
        long address = Allocations.address(answer);
        if (address == FarmAddress.NONE) {
            notBeforeNs = node.pauseUntilNs(node.clock().nanoTime(), ++failures);
        } else {
            reservation = new Reservation(
                    length,
                    SpareReservations.near(hint),
                    address,
                    node.member().epoch(),
                    Allocations.version(answer),
                    Allocations.incarnation(answer));
        }
    }

    @Override
    void onEpoch() {
        asking = false;
    }
}
