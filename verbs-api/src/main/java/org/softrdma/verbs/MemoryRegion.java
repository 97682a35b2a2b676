package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Registered memory (C: {@code ibv_mr}). */
public interface MemoryRegion extends AutoCloseable {
    /** The domain this region belongs to. */
    ProtectionDomain protectionDomain();

    /**
     * The memory that the keys name now; another region's after {@link #swap}.
     *
     * @throws IllegalStateException if the region is closed
     */
    MemorySegment memory();

    /**
     * The first address of the region as scatter/gather entries and peers name it: the memory's own address at registration,
     * or 0 if ZERO_BASED. It does not change on {@link #swap}.
     */
    long address();

    /** Bytes. */
    long length();

    /** The key for local scatter/gather entries. Never assume that it equals {@link #rkey()}. */
    int lkey();

    /** The key for a peer. */
    int rkey();

    /** The rights in force, with those the provider added for an intent. */
    Set<AccessFlag> access();

    /** What a peer needs to reach this region. */
    default RemoteRegion remote() {
        return new RemoteRegion(address(), length(), rkey());
    }

    /** The policy in force, never {@link PinningPolicy#AUTO}; OFF for memory that is resident by itself. */
    default PinningPolicy pinning() {
        return PinningPolicy.EAGER;
    }

    /** What pinning did to the memory that the keys name now, since it was registered. */
    default PinningCounters pinningCounters() {
        return PinningCounters.eager(length());
    }

    /**
     * Gives back what is pinned lazily of this region, also where other regions share it; the next access pins again. Waits for what uses it just
     * now, never for a peer. Nothing happens without {@link Feature#LAZY_PINNING}.
     */
    default void unpin() {
        // Pinned by the driver until it is deregistered.
    }

    /**
     * Checks that a range lies inside.
     *
     * @param offset bytes from the start
     * @param length bytes
     * @throws IllegalArgumentException if it does not
     */
    default void checkRange(long offset, long length) {
        if (offset < 0 || length < 0 || offset > length() - length) {
            throw new IllegalArgumentException("offset=" + offset + " and length=" + length
                    + ": expected a range inside the region of " + length() + " bytes");
        }
    }

    /**
     * Atomically exchanges the memory which the keys of this and the other region name ({@link Feature#REGION_SWAP}).
     *
     * <p>A READ request of a peer that is checked after this returns sees the new memory, one that was checked before sees
     * the old memory to its end; none sees a mixture. Local requests in flight that use the regions, and WRITEs of a peer, may see
     * both. Both regions must be ZERO_BASED, of one domain, one length and with equal rights.
     *
     * @param other the region to exchange with
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature
     * @throws IllegalArgumentException if domain, length or rights differ, or one is not ZERO_BASED
     */
    void swap(MemoryRegion other);

    /**
     * Deregisters (C: {@code ibv_dereg_mr}). When this returns the device touches the memory no more. It never waits for a
     * peer: a message that still needed the memory fails instead. Idempotent.
     */
    @Override
    void close();
}
