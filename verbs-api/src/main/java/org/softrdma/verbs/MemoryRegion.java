package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Registered memory (C: {@code ibv_mr}). */
public interface MemoryRegion extends AutoCloseable {
    /** The domain this region belongs to. */
    ProtectionDomain protectionDomain();

    /**
     * The memory that the keys name now. After {@link #swap} that is the other region's.
     *
     * @throws IllegalStateException if the region is closed
     */
    MemorySegment memory();

    /**
     * The first address of the region, as scatter/gather entries and peers name it: the memory's own address at
     * registration, or 0 if the region is ZERO_BASED. {@link #swap} does not change it.
     */
    long address();

    /** Its length in bytes. */
    long length();

    /** The key for local scatter/gather entries. It need not equal {@link #rkey()}. */
    int lkey();

    /** The key for a peer. */
    int rkey();

    /** The rights in force, including those that the provider added for an intent. */
    Set<AccessFlag> access();

    /** What a peer needs to reach this region. */
    default RemoteRegion remote() {
        return new RemoteRegion(address(), length(), rkey());
    }

    /** The policy in force, never {@link PinningPolicy#AUTO}. Memory that is always resident has OFF. */
    default PinningPolicy pinning() {
        return PinningPolicy.EAGER;
    }

    /** What pinning did, since registration, to the memory that the keys name now. */
    default PinningCounters pinningCounters() {
        return PinningCounters.eager(length());
    }

    /**
     * Unlocks the lazily pinned pages of this region, even those that other regions share; the next access locks them
     * again. May wait for an access under way, never for a peer. Does nothing without {@link Feature#LAZY_PINNING}.
     */
    default void unpin() {
        // Pinned by the driver until it is deregistered.
    }

    /**
     * Checks that a range lies inside the region.
     *
     * @param offset bytes from the start of the region
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
     * Atomically exchanges the memory that the keys of this region and of the other name ({@link
     * Feature#REGION_SWAP}).
     *
     * <p>A peer's READ sees the memory that the keys named when the device checked the READ, to its end, and never a
     * mixture: those checked after this returns see the new memory. Local requests in flight, and a peer's WRITEs, may
     * see both. Both regions must be ZERO_BASED and have the same domain, length and rights.
     *
     * @param other the region to exchange with
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature
     * @throws IllegalArgumentException if domain, length or rights differ, or one is not ZERO_BASED
     */
    void swap(MemoryRegion other);

    /**
     * Deregisters the memory (C: {@code ibv_dereg_mr}). When this returns, the device no longer touches it. It never
     * waits for a peer: a message that still needs the memory fails instead. Idempotent.
     */
    @Override
    void close();
}
