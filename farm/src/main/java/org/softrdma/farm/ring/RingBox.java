package org.softrdma.farm.ring;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Registered memory of a ring, and of a head word in the line behind it. In the inbox the peer WRITEs both: the
 * messages, and its position in the ring that this side WRITEs. This side WRITEs both from the outbox.
 *
 * @param capacity bytes of the ring, a multiple of 64
 * @param memory of both
 */
public record RingBox(int capacity, RegisteredMemory memory) implements AutoCloseable {
    private static final int LINE = 64;

    /**
     * Memory that a peer WRITEs; it is registered as POLLED if the device supports that.
     *
     * @param device of the domain
     * @param domain of the queue pair
     * @param capacity bytes of the ring
     */
    public static RingBox inbox(VerbsDevice device, ProtectionDomain domain, int capacity) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (device.capabilities().features().contains(Feature.ORDERED_PLACEMENT)) {
            access.add(AccessFlag.POLLED);
        }
        return allocate(device, domain, capacity, access);
    }

    /**
     * Memory that this side WRITEs from.
     *
     * @param device of the domain
     * @param domain of the queue pair
     * @param capacity bytes of the peer's ring
     */
    public static RingBox outbox(VerbsDevice device, ProtectionDomain domain, int capacity) {
        return allocate(device, domain, capacity, Set.of(AccessFlag.LOCAL_WRITE));
    }

    private static RingBox allocate(VerbsDevice device, ProtectionDomain domain, int capacity, Set<AccessFlag> access) {
        if (capacity < LINE || capacity % LINE != 0) {
            throw new IllegalArgumentException("capacity=" + capacity + ": expected a multiple of " + LINE);
        }
        return new RingBox(capacity, new RegisteredMemory(device, domain, (long) capacity + LINE, access));
    }

    /** Bytes of a ring that has room for so many messages of this length, and for one in any case. */
    public static int capacityFor(int longest, int messages) {
        long frame = RingFrameDescriptor.length(longest);
        long bytes = Math.max(4 * (frame + RingFrameDescriptor.ALIGNMENT), frame * messages);
        return Math.toIntExact((bytes + LINE - 1) & -LINE);
    }

    /** The registration of its memory. */
    public MemoryRegion region() {
        return memory.region();
    }

    /** Gives the memory back. */
    @Override
    public void close() {
        memory.close();
    }
}
