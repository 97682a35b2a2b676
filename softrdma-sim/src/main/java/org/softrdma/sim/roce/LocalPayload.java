package org.softrdma.sim.roce;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.queue.EntryTable;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.verbs.SendFlags;

/**
 * The local memory of requests: what SENDs and WRITEs carry is copied out of it, packet by packet, and again if a packet is
 * sent again; what READs and atomics bring is placed in it. Inside a batch.
 */
final class LocalPayload {
    private final RnicEngine engine;
    private final MemoryOperations memory;
    private final StagTable stags;
    private final SendQueue sends;
    private final EntryTable entries;
    private final int domain;
    private final Placement placement;
    private final ScatterPlacement answers;

    LocalPayload(RnicEngine engine, SendQueue sends, int domain) {
        this.engine = engine;
        this.sends = sends;
        this.domain = domain;
        memory = engine.memory();
        stags = engine.stags();
        entries = sends.entries();
        placement = new Placement(engine);
        answers = new ScatterPlacement(engine, placement, entries, domain);
    }

    /**
     * Copies part of a message.
     *
     * @param slot of the request
     * @param offset in the message
     * @param target where it goes
     * @param length bytes
     * @return false if some of the memory may not be read
     */
    boolean copy(int slot, long offset, long target, int length) {
        if (sends.hasFlag(slot, SendFlags.INLINE)) {
            NativeMemory.copy(sends.inlineAddress(slot) + offset, target, length);
            return true;
        }
        long skip = offset;
        long to = target;
        long left = length;
        for (int i = 0; left > 0; i++) {
            long here = Math.min(left, entries.length(slot, i) - skip);
            if (here > 0) {
                if (!copyEntry(entries.lkey(slot, i), entries.address(slot, i) + skip, to, here)) {
                    return false;
                }
                to += here;
                left -= here;
                skip = 0;
            } else {
                skip -= entries.length(slot, i);
            }
        }
        return true;
    }

    private boolean copyEntry(int key, long address, long target, long length) {
        int row = find(key, AccessRights.NONE, address, length);
        if (row < 0) {
            return false;
        }
        long source = stags.rawAddress(row, address);
        engine.use(row, source, length);
        return memory.copyFrom(stags.binding(row), source, target, length);
    }

    private int find(int key, int rights, long address, long length) {
        int row = stags.findLocal(key);
        return stags.check(row, domain, rights, address, length) == AccessResult.GRANTED ? row : -1;
    }

    /** True if all of a message may be read; asked before its first packet, so that none goes of one that may not. */
    boolean mayRead(int slot) {
        return sends.hasFlag(slot, SendFlags.INLINE) || mayUse(slot, AccessRights.NONE);
    }

    /** True if the answer to a request may be placed. */
    boolean maySink(int slot) {
        return mayUse(slot, AccessRights.LOCAL_WRITE);
    }

    private boolean mayUse(int slot, int rights) {
        for (int i = 0; i < entries.count(slot); i++) {
            long length = entries.length(slot, i);
            if (length > 0 && find(entries.lkey(slot, i), rights, entries.address(slot, i), length) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Places part of an answer.
     *
     * @param slot of the request
     * @param offset in the answer
     * @param source its bytes
     * @param length how many
     * @return false if the memory may not be written any more
     */
    boolean place(int slot, long offset, long source, int length) {
        return length == 0
                || (answers.put(slot, offset, source, length)
                        && (offset + length < entries.total(slot) || placement.complete()));
    }
}
