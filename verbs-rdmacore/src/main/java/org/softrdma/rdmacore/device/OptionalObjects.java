package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.rdmacore.abi.AbiMismatchException;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.Feature;

/**
 * Finds out which objects and operations that not every device has this one has. What can be tried is tried, on the
 * objects of a {@link ContextProbe}: a driver's attributes and its library do not always agree. What is created must show
 * what it was created with, as everything else does.
 *
 * @param library C functions
 * @param operations of the context
 * @param attributes its {@code ibv_device_attr}
 * @param domain of the probe
 * @param arena of the probe
 */
record OptionalObjects(
        VerbsLibrary library, VerbsLibrary.Operations operations, long attributes, long domain, Arena arena) {
    /**
     * What the device says of its protocol and its atomics. Whether siw sends what takes a key back is not asked: libsiw
     * reads that key from another field than every other library, and tells no receiver of it.
     *
     * @param attributes an {@code ibv_device_attr}
     * @param speaks its protocol
     * @param softIwarp true for the kernel's SoftiWARP
     */
    static Set<Feature> told(long attributes, WireProtocol speaks, boolean softIwarp) {
        EnumSet<Feature> features = EnumSet.of(Feature.ASYNC_EVENTS);
        int atomics = CMemory.getInt(attributes + VerbsAbi.ATOMIC_CAPABILITY);
        if (speaks != WireProtocol.IWARP) {
            features.add(Feature.WRITE_IMMEDIATE);
            features.add(Feature.SEND_IMMEDIATE);
            if (atomics == VerbsAbi.ATOMIC_IN_DEVICE || atomics == VerbsAbi.ATOMIC_GLOBALLY) {
                features.add(Feature.ATOMICS);
            }
            if (atomics == VerbsAbi.ATOMIC_GLOBALLY) {
                features.add(Feature.GLOBAL_ATOMICS);
            }
        }
        if (!softIwarp && isCapable(attributes, VerbsAbi.CAPABLE_OF_MEMORY_MANAGEMENT)) {
            features.add(Feature.SEND_INVALIDATE);
        }
        return features;
    }

    private static boolean isCapable(long attributes, int ofAny) {
        return (CMemory.getInt(attributes + VerbsAbi.DEVICE_CAPABILITIES) & ofAny) != 0;
    }

    /**
     * True if a window of type 2 can be allocated.
     *
     * @throws AbiMismatchException if it does not show what it was allocated with
     */
    boolean hasWindows() {
        if (!isCapable(attributes, VerbsAbi.CAPABLE_OF_WINDOWS_OF_TYPE_2)
                || CMemory.getInt(attributes + VerbsAbi.MAX_MW) == 0) {
            return false;
        }
        long window = operations.allocateWindow(domain, VerbsAbi.TYPE_2);
        if (VerbsLibrary.isError(window)) {
            return false;
        }
        try {
            require(
                    CMemory.getLong(window + VerbsAbi.WINDOW_DOMAIN) == domain
                            && CMemory.getInt(window + VerbsAbi.WINDOW_TYPE) == VerbsAbi.TYPE_2,
                    "ibv_mw.type",
                    CMemory.getInt(window + VerbsAbi.WINDOW_TYPE),
                    "the domain and type it was allocated with");
            return true;
        } finally {
            operations.deallocateWindow(window);
        }
    }

    /** Uses a shared receive queue of the probe. */
    @FunctionalInterface
    interface SharedQueueUse {
        /**
         * Creates a queue pair that takes its RECVs from it.
         *
         * @return false if that is not possible
         */
        boolean makesQueuePair(long sharedQueue);
    }

    /**
     * True if a shared receive queue can be created, and a queue pair of it.
     *
     * @throws AbiMismatchException if it does not show what it was created with
     */
    boolean hasSharedReceiveQueues(SharedQueueUse use) {
        if (CMemory.getInt(attributes + VerbsAbi.MAX_SRQ) == 0
                || CMemory.getInt(attributes + VerbsAbi.MAX_SRQ_WR) == 0) {
            return false;
        }
        long init = arena.allocate(VerbsAbi.SHARED_QUEUE_INIT).address();
        CMemory.putInt(init + VerbsAbi.SHARED_INIT_MAX_RECEIVE, 1);
        CMemory.putInt(init + VerbsAbi.SHARED_INIT_MAX_SGE, 1);
        long queue = library.createSharedReceiveQueue(domain, init);
        if (VerbsLibrary.isError(queue)) {
            return false;
        }
        try {
            require(
                    CMemory.getLong(queue + VerbsAbi.SHARED_QUEUE_DOMAIN) == domain,
                    "ibv_srq.pd",
                    CMemory.getLong(queue + VerbsAbi.SHARED_QUEUE_DOMAIN),
                    "the domain it was created in");
            return use.makesQueuePair(queue);
        } finally {
            library.destroySharedReceiveQueue(queue);
        }
    }

    /** True if a completion queue of one entry can be made larger. */
    boolean resizes(long completionQueue) {
        return library.resizeCompletionQueue(completionQueue, 2) == 0;
    }

    /**
     * True if the rights of a region can be changed.
     *
     * @param region registered for local writes and remote READs
     */
    boolean reregisters(long region) {
        return library.reregisterRegion(region, VerbsAbi.CHANGE_ACCESS, 0, 0, 0, RegionRights.LOCAL_WRITE) == 0;
    }

    private static void require(boolean holds, String field, long found, String expected) {
        if (!holds) {
            throw new AbiMismatchException(
                    field + " is " + found + ", expected " + expected + ": this libibverbs has an unknown layout");
        }
    }
}
