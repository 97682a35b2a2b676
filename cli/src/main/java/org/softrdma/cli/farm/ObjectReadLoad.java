package org.softrdma.cli.farm;

import java.util.List;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.PolledReads;

/** Lock-free reads of objects by turns, a READ each. The node's thread. */
final class ObjectReadLoad extends WindowLoad implements PolledReads.ReadHandler {
    private final PolledReads reads;
    private final List<Long> objects;
    private final int length;
    private int next;

    /**
     * A load.
     *
     * @param node of this process
     * @param objects addresses
     * @param length of each
     * @param window reads under way
     */
    ObjectReadLoad(FarmNode node, List<Long> objects, int length, int window) {
        super(window);
        reads = node.polledReads(window);
        this.objects = List.copyOf(objects);
        this.length = length;
    }

    @Override
    void begin(int place) {
        next = (next + 1) % objects.size();
        boolean ignored = reads.startRead(objects.get(next), length, place);
    }

    @Override
    int poll() {
        return reads.poll(this);
    }

    @Override
    public void onObject(long tag, ObjectImage image) {
        long ignored = ended((int) tag);
    }

    @Override
    public void onFailure(long tag, String reason) {
        fail(reason, (int) tag);
    }
}
