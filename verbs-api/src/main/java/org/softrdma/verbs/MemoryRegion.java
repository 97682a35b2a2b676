package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Registered memory (C: {@code ibv_mr}). */
public interface MemoryRegion extends AutoCloseable {
    /** The domain this region belongs to. */
    ProtectionDomain protectionDomain();

    /**
     * The memory to which the keys refer now. After {@link #swap} that is the other region's.
     *
     * @throws IllegalStateException if the region is closed
     */
    MemorySegment memory();

    /**
     * The first address of the region for scatter/gather entries and for peers: 0 if the region is ZERO_BASED, else the
     * memory's own address at registration, unless the device uses other addresses, as a simulated one does (C: {@code
     * ibv_reg_mr_iova}). So send peers this address. {@link #swap} does not change it.
     */
    long address();

    /** Its length in bytes. */
    long length();

    /** The key for local scatter/gather entries. It may differ from {@link #rkey()}. */
    int lkey();

    /** The key for a peer. */
    int rkey();

    /** The rights in force, including those that the provider added for an intent. */
    Set<AccessFlag> access();

    /**
     * The size in bytes of an aligned unit that READs and WRITEs move as a whole, or 0 if there is none. It is 8, a
     * <em>word</em>, if the region is {@link AccessFlag#POLLED}, or {@link AccessFlag#REMOTE_ATOMIC} on a device with
     * {@link Feature#GLOBAL_ATOMICS}. Otherwise it is 0, and a thread that reads the memory while a message is in
     * flight may find any mixture of old and new bytes in any order. Alignment refers to the memory's own address.
     *
     * <p><b>Whole words.</b> A peer's WRITE and the data of this side's READ change a word that lies entirely in their
     * range by one store; a peer's READ, and this side's WRITE from here that is not INLINE, read such a word by one
     * load. A thread must access the word by one aligned load or store, too ({@link java.lang.invoke.VarHandle}, opaque
     * or stronger). Bytes of a word that lies only partly in the range are moved one by one. There is no order between
     * the words that a READ loads.
     *
     * <p><b>The last word is stored last</b>, in POLLED memory only. The last word of a WRITE, or of the data of this
     * side's READ, is the last aligned 8 bytes that lie entirely in its range. If there are none, it is the last byte
     * of the range. The device stores it once the whole message has arrived and after all its other bytes, including
     * those behind it, with a release. So a thread that reads the last word with an acquire ({@link
     * java.lang.invoke.VarHandle#getAcquire}) and finds this message's value also sees every other byte of the message,
     * and of those that the same queue pair has placed before it. Every store of the device to these bytes
     * <em>happens-before</em> that load, in the sense of the Java memory model.
     *
     * <p><b>Not guaranteed.</b> The last word announces its message only if the message changes it and nobody else
     * writes it: two messages to one place, on different queue pairs, may mix. Words before the last appear in any
     * order, and bytes behind the last word before it, so poll the last word and not the last byte. A message that
     * fails in the middle may have changed any of its bytes, but never the last word. SENDs have no such guarantee:
     * wait for the completion of the RECV.
     */
    default int coherentUnit() {
        return 0;
    }

    /** What a peer needs to reach this region. */
    default RemoteRegion remote() {
        return new RemoteRegion(address(), length(), rkey());
    }

    /** The policy in force, never {@link PinningPolicy#AUTO}. Memory that is always resident has OFF. */
    default PinningPolicy pinning() {
        return PinningPolicy.EAGER;
    }

    /** What pinning did, since registration, to the memory to which the keys refer now. */
    default PinningCounters pinningCounters() {
        return PinningCounters.eager(length());
    }

    /**
     * Unlocks the lazily pinned pages of this region, even those that other regions share; the next access locks them
     * again. May wait for an access in progress, never for a peer. Does nothing without {@link Feature#LAZY_PINNING}.
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
     * Atomically exchanges the memory to which the keys of this region and of the other refer ({@link
     * Feature#REGION_SWAP}).
     *
     * <p>A peer's READ sees, from beginning to end, the memory to which the keys referred when the device checked the
     * READ, and never a mixture: READs checked after this returns see the new memory. Local requests in flight, and a
     * peer's WRITEs, may see both. Both regions must be ZERO_BASED and have the same domain, length and rights.
     *
     * @param other the region to exchange with
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature
     * @throws IllegalArgumentException if domain, length or rights differ, or one is not ZERO_BASED
     */
    void swap(MemoryRegion other);

    /**
     * Changes the memory, the domain or the rights of this registration (C: {@code ibv_rereg_mr}). The keys must not be
     * used meanwhile: requests in flight may fail or do what either registration allows, but once this returns they
     * touch no memory that the region has left. The keys may change, so read them again. Needs {@link
     * Feature#REREGISTRATION}.
     *
     * @param change what to change
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link VerbsErrorCode#BUSY} while
     *     a window is bound to it; otherwise as {@link ProtectionDomain#register}. The region is then unchanged, unless
     *     the message says that it can only be closed
     */
    default void reregister(Reregistration change) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "reregister: this device has no " + Feature.REREGISTRATION + "; close the region and register anew");
    }

    /**
     * Deregisters the memory (C: {@code ibv_dereg_mr}). When this returns, the device no longer touches it. It never
     * waits for a peer: a message that still needs the memory fails instead. Refused with {@link VerbsErrorCode#BUSY}
     * while a {@link MemoryWindow} is bound to it. Idempotent.
     */
    @Override
    void close();
}
