package org.softrdma.ibverbs;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Checks which memory may be registered with which rights, before any native call. Has the bits of
 * {@code enum ibv_access_flags}.
 */
public final class RegionRights {
    /** {@code IBV_ACCESS_LOCAL_WRITE}. */
    public static final int LOCAL_WRITE = 1;
    /** {@code IBV_ACCESS_REMOTE_WRITE}. */
    public static final int REMOTE_WRITE = 1 << 1;
    /** {@code IBV_ACCESS_REMOTE_READ}. */
    public static final int REMOTE_READ = 1 << 2;
    /** {@code IBV_ACCESS_REMOTE_ATOMIC}. */
    public static final int REMOTE_ATOMIC = 1 << 3;
    /** {@code IBV_ACCESS_MW_BIND}. */
    public static final int BIND_WINDOWS = 1 << 4;

    private RegionRights() {}

    /**
     * The rights in force: the requested ones, and those that intents need on the transport.
     *
     * @param memory to be registered
     * @param access requested rights and intents
     * @param device limits and features of the device
     * @param readsWrite the data of a READ is a tagged message of the peer (iWARP, RFC 5040 section 5.2)
     * @throws IllegalArgumentException for heap memory, a wrong length, rights that contradict each other
     * @throws VerbsException {@code NOT_SUPPORTED} for a right whose feature the device lacks, and for POLLED: no verb
     *     asks an adapter to store the last word of a WRITE last, and {@code ibv_query_qp_data_in_order} is not in every
     *     rdma-core
     */
    public static Set<AccessFlag> granted(
            MemorySegment memory, Set<AccessFlag> access, Capabilities device, boolean readsWrite) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered; expected a native segment");
        }
        long maxLength = device.maxRegionLength();
        if (memory.byteSize() < 1 || memory.byteSize() > maxLength) {
            throw new IllegalArgumentException(
                    "length=" + memory.byteSize() + ": expected 1 to " + maxLength + " bytes");
        }
        if (access.contains(AccessFlag.POLLED)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "access=" + access + ": this device has no feature ORDERED_PLACEMENT, so what a WRITE has placed"
                            + " is known by a completion only; register without POLLED, and let a SEND follow the"
                            + " WRITE or check the data by its content");
        }
        requireFeature(AccessFlag.REMOTE_ATOMIC, Feature.ATOMICS, access, device);
        requireFeature(AccessFlag.BIND_WINDOWS, Feature.MEMORY_WINDOWS, access, device);
        EnumSet<AccessFlag> granted = EnumSet.noneOf(AccessFlag.class);
        granted.addAll(access);
        if (access.contains(AccessFlag.READ_SINK) || access.contains(AccessFlag.RECEIVE_SINK)) {
            granted.add(AccessFlag.LOCAL_WRITE);
        }
        if (access.contains(AccessFlag.READ_SINK) && readsWrite) {
            granted.add(AccessFlag.REMOTE_WRITE);
        }
        requireLocalWrite(AccessFlag.REMOTE_WRITE, granted);
        requireLocalWrite(AccessFlag.REMOTE_ATOMIC, granted);
        if (memory.isReadOnly() && granted.contains(AccessFlag.LOCAL_WRITE)) {
            throw new IllegalArgumentException("access=" + access + ": the memory is read-only");
        }
        return Collections.unmodifiableSet(granted);
    }

    private static void requireFeature(AccessFlag right, Feature feature, Set<AccessFlag> access, Capabilities device) {
        if (access.contains(right) && !device.has(feature)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "access=" + access + ": " + right + " needs " + feature + ", which this device ("
                            + device.provider() + ", " + device.transport() + ") does not have");
        }
    }

    private static void requireLocalWrite(AccessFlag right, Set<AccessFlag> granted) {
        if (granted.contains(right) && !granted.contains(AccessFlag.LOCAL_WRITE)) {
            throw new IllegalArgumentException("access=" + granted + ": " + right + " needs LOCAL_WRITE");
        }
    }

    /**
     * The bits for the device.
     *
     * @param access rights in force
     */
    public static int bits(Set<AccessFlag> access) {
        return (access.contains(AccessFlag.LOCAL_WRITE) ? LOCAL_WRITE : 0)
                | (access.contains(AccessFlag.REMOTE_WRITE) ? REMOTE_WRITE : 0)
                | (access.contains(AccessFlag.REMOTE_READ) ? REMOTE_READ : 0)
                | (access.contains(AccessFlag.REMOTE_ATOMIC) ? REMOTE_ATOMIC : 0)
                | (access.contains(AccessFlag.BIND_WINDOWS) ? BIND_WINDOWS : 0);
    }
}
