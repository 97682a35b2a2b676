package org.softrdma.sim.roce;

import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;

/** Places what comes in the local entries of a request, packet by packet: of a RECV, a READ or an atomic. Inside a batch. */
final class ScatterPlacement {
    private final StagTable stags;
    private final Placement placement;
    private final EntryTable entries;
    private final int domain;

    /**
     * Of a queue.
     *
     * @param placement puts bytes in memory
     * @param entries of the queue's requests
     * @param domain that they must be of
     */
    ScatterPlacement(RnicEngine engine, Placement placement, EntryTable entries, int domain) {
        stags = engine.stags();
        this.placement = placement;
        this.entries = entries;
        this.domain = domain;
    }

    /**
     * Places part of a message.
     *
     * @param slot of the request, whose entries have room for it
     * @param offset in the message
     * @param source the bytes
     * @param length how many
     * @return false if some of the memory may not be written
     */
    boolean put(int slot, long offset, long source, int length) {
        placement.begin(length);
        long skip = offset;
        long from = source;
        for (int i = 0; placement.left() > 0; i++) {
            long here = Math.min(placement.left(), entries.length(slot, i) - skip);
            if (here > 0) {
                long address = entries.address(slot, i) + skip;
                int row = stags.findLocal(entries.lkey(slot, i));
                AccessResult result = stags.check(row, domain, AccessRights.LOCAL_WRITE, address, here);
                if (result != AccessResult.GRANTED) {
                    return false;
                }
                placement.run(row, address, (int) here);
                if (!placement.put(from, (int) here)) {
                    return false;
                }
                from += here;
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
        return true;
    }
}
