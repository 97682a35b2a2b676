package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Groups the memory regions and queue pairs that may be used together (C: {@code ibv_pd}). A key of one domain is worth
 * nothing on a queue pair of another, neither as lkey nor as rkey.
 */
public interface ProtectionDomain extends AutoCloseable {
    /** The device this domain belongs to. */
    VerbsDevice device();

    /**
     * Registers memory (C: {@code ibv_reg_mr}), pinned as the device pins by default ({@link VerbsDevice#pinning}).
     *
     * <p>The device reads and writes by raw address. Memory of {@link VerbsDevice#allocateMemory}, of any device, is safe. Other native
     * memory stays reachable while it is registered, so the garbage collector does not free it, also when the region is dropped
     * without being closed; but the caller must keep its arena open until the region is closed, as no API keeps another's arena
     * open. Overlapping registrations are legal, each with keys
     * and rights of its own.
     *
     * @param memory native memory, at least 1 byte
     * @param access rights and intents
     * @throws IllegalArgumentException for heap memory, length 0, REMOTE_WRITE without LOCAL_WRITE, or a longer region than
     *     {@link Capabilities#maxRegionLength()}
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} (with limit, need and remedy), {@link
     *     VerbsErrorCode#NOT_SUPPORTED}
     * @throws IllegalStateException if the domain is closed, or the memory has been freed
     */
    MemoryRegion register(MemorySegment memory, Set<AccessFlag> access);

    /**
     * Registers memory as {@link #register(MemorySegment, Set)} does, with a say in when its pages are locked. A device without
     * {@link Feature#LAZY_PINNING} pins as its driver does, which is at registration, and refuses LAZY and OFF.
     *
     * @param memory native memory, at least 1 byte
     * @param access rights and intents
     * @param pinning when its pages are locked
     * @throws VerbsException as there; {@link VerbsErrorCode#NOT_SUPPORTED} also for a policy that the device has not
     */
    default MemoryRegion register(MemorySegment memory, Set<AccessFlag> access, PinningPolicy pinning) {
        if (pinning == PinningPolicy.LAZY || pinning == PinningPolicy.OFF) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "pinning " + pinning + ": this device pins at registration, use AUTO");
        }
        return register(memory, access);
    }

    /**
     * Says that a part of a lazily pinned region will be used soon (C: {@code ibv_advise_mr}). Best effort: what does not fit into the
     * budget stays as it is, and what is pinned may be evicted again.
     *
     * @param advice what is to be done
     * @param wait return when it is done (C: {@code IBV_ADVISE_MR_FLAG_FLUSH}); else it is done later, or never
     * @param address first address, as scatter/gather entries name it
     * @param length bytes, at least 1
     * @param lkey of a region of this domain
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without {@link Feature#LAZY_PINNING}, {@link
     *     VerbsErrorCode#BAD_RANGE} for a range outside of the region, {@link VerbsErrorCode#INVALID} for a region that is not
     *     pinned lazily, {@link VerbsErrorCode#NOT_FOUND} for a key of no region, {@link VerbsErrorCode#NOT_PERMITTED} for a
     *     region of another domain or one that the device may not write ({@link Advice#PREFETCH_WRITE})
     */
    default void advise(Advice advice, boolean wait, long address, long length, int lkey) {
        throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, "advise: this device pins at registration");
    }

    /** Closes the domain. Refused with {@link VerbsErrorCode#BUSY} while regions or queue pairs live; idempotent. */
    @Override
    void close();
}
