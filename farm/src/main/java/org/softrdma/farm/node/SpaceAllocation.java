package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;

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
    private long address = FarmAddress.NONE;
    private int epoch;
    private long version;
    private long incarnation;

    SpaceAllocation(NodeParts node, int length, long hint) {
        this.node = node;
        this.length = length;
        this.hint = hint;
    }

    long address() {
        return address;
    }

    /** The epoch in which it is reserved: in later ones it is not. */
    int epoch() {
        return epoch;
    }

    long version() {
        return version;
    }

    long incarnation() {
        return incarnation;
    }

    @Override
    boolean advance(long nowNs) {
        if (address != FarmAddress.NONE) {
            return true;
        }
        if (failures >= MOST_FAILURES) {
            return fail("no room for an object of " + length + " bytes");
        }
        if (!asking && nowNs >= notBeforeNs && node.member().isRunning()) {
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
        return address != FarmAddress.NONE;
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
        address = Allocations.address(answer);
        if (address == FarmAddress.NONE) {
            notBeforeNs = node.pauseUntilNs(node.clock().nanoTime(), ++failures);
        } else {
            epoch = node.member().epoch();
            version = Allocations.version(answer);
            incarnation = Allocations.incarnation(answer);
        }
    }

    @Override
    void onEpoch() {
        asking = false;
    }
}
