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
     * Registers memory (C: {@code ibv_reg_mr}).
     *
     * <p>The device reads and writes by raw address. Memory of {@link VerbsDevice#allocateMemory} is safe; of other native memory
     * the caller must keep its arena open until the region is closed. Overlapping registrations are legal, each with keys
     * and rights of its own.
     *
     * @param memory native memory, at least 1 byte
     * @param access rights and intents
     * @throws IllegalArgumentException for heap memory, length 0, REMOTE_WRITE without LOCAL_WRITE, or a longer region than
     *     {@link Capabilities#maxRegionLength()}
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} (with limit, need and remedy), {@link
     *     VerbsErrorCode#NOT_SUPPORTED}
     * @throws IllegalStateException if the domain is closed
     */
    MemoryRegion register(MemorySegment memory, Set<AccessFlag> access);

    /** Closes the domain. Refused with {@link VerbsErrorCode#BUSY} while regions or queue pairs live; idempotent. */
    @Override
    void close();
}
