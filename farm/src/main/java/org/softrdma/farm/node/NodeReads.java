package org.softrdma.farm.node;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Places for READs of all connections. A place is free again only when its READ has completed or its queue pair is closed:
 * else an old READ could land in it behind a new one. The node's thread.
 */
final class NodeReads implements AutoCloseable {
    static final int NONE = -1;

    private final RegisteredMemory memory;
    private final int length;
    private final @Nullable ReadWaiter[] waiters;
    private final int[] machines;
    private final IntArrayList free = new IntArrayList();
    private int begun;

    /** Waits for a READ. */
    interface ReadWaiter {
        /**
         * It is over.
         *
         * @param place where it has put what it brought
         * @param success false if it has brought nothing
         */
        void onRead(int place, boolean success);
    }

    NodeReads(VerbsDevice device, ProtectionDomain domain, int count, int length) {
        this.length = length;
        memory = new RegisteredMemory(device, domain, (long) count * length, Set.of(AccessFlag.LOCAL_WRITE));
        waiters = new ReadWaiter[count];
        machines = new int[count];
        for (int i = count - 1; i >= 0; i--) {
            free.addInt(i);
        }
    }

    /** Takes a place, or {@link #NONE}. */
    int take(int machine, ReadWaiter waiter) {
        if (free.isEmpty()) {
            return NONE;
        }
        int place = free.removeAt(free.size() - 1);
        waiters[place] = waiter;
        machines[place] = machine;
        begun++;
        return place;
    }

    /** How many have begun since the last call. */
    int takeBegun() {
        int count = begun;
        begun = 0;
        return count;
    }

    /** Bytes of a place: the longest READ. */
    int length() {
        return length;
    }

    MemoryRegion region() {
        return memory.region();
    }

    MemorySegment segment() {
        return memory.segment();
    }

    long offset(int place) {
        return (long) place * length;
    }

    /** A READ has completed. */
    void completed(int place, boolean success) {
        ReadWaiter waiter = waiters[place];
        if (waiter != null) {
            waiters[place] = null;
            free.addInt(place);
            waiter.onRead(place, success);
        }
    }

    /** The queue pair to a machine is closed: its READs bring nothing. */
    void closed(int machine) {
        for (int place = 0; place < waiters.length; place++) {
            if (waiters[place] != null && machines[place] == machine) {
                completed(place, false);
            }
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
