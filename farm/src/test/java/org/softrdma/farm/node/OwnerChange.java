package org.softrdma.farm.node;

import java.util.Objects;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.space.FarmRegion;

/** Writes an object in a region that the machine has, past all transactions: what a test begins with. */
final class OwnerChange extends NodeTask {
    private final NodeParts node;
    private final long address;
    private final int length;
    private final long value;
    private final boolean asPrimary;

    /**
     * A change.
     *
     * @param asPrimary true to wait until the machine runs and serves the region
     */
    OwnerChange(NodeParts node, long address, int length, long value, boolean asPrimary) {
        this.node = node;
        this.address = address;
        this.length = length;
        this.value = value;
        this.asPrimary = asPrimary;
    }

    @Override
    boolean advance(long nowNs) {
        boolean serves = node.member().isRunning() && node.space().isPrimary(FarmAddress.region(address));
        if (asPrimary && !serves) {
            return false;
        }
        FarmRegion region = Objects.requireNonNull(node.space().regionOf(address, length));
        ObjectImage image = new ObjectImage();
        long offset = FarmAddress.offset(address);
        region.writer().load(offset, length, image);
        image.putLong(FarmObjectDescriptor.PAYLOAD_OFFSET, value);
        region.writer().lockForWriting(offset, length);
        region.writer().write(offset, image);
        region.writer().unlock(offset, image);
        return true;
    }

    @Override
    void onEpoch() {
        // It is done at once.
    }
}
