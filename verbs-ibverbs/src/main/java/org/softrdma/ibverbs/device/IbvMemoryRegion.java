package org.softrdma.ibverbs.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Closing;
import org.softrdma.verbs.provider.HostMemories;

/** An {@code ibv_mr}. Thread-safe. */
public abstract class IbvMemoryRegion implements MemoryRegion {
    private final Registration registration;
    private final long base;
    private final int lkey;
    private final int rkey;
    private final Closing closing = new Closing();

    /**
     * What a registration consists of.
     *
     * @param domain its domain
     * @param memory its memory
     * @param access rights in force
     * @param owner the device allocation that contains it, whose registration is counted already; null for other memory
     * @param whenClosed runs on close: the domain counts its regions
     */
    public record Registration(
            ProtectionDomain domain,
            MemorySegment memory,
            Set<AccessFlag> access,
            HostMemories.@Nullable Allocation owner,
            Consumer<MemoryRegion> whenClosed) {}

    /**
     * Wraps a region that was just registered.
     *
     * @param registration what was registered
     * @param base its first address
     * @param lkey local key
     * @param rkey remote key
     */
    protected IbvMemoryRegion(Registration registration, long base, int lkey, int rkey) {
        this.registration = registration;
        this.base = base;
        this.lkey = lkey;
        this.rkey = rkey;
    }

    /**
     * {@code ibv_dereg_mr}. If it throws, the memory stays registered for the life of the process, unless it called
     * {@link #stillOpen}.
     */
    protected abstract void deregister();

    /**
     * The native region could not be deregistered, so that {@link #close} may be called again. From {@link
     * #deregister}.
     */
    protected final void stillOpen() {
        closing.stillOpen();
    }

    @Override
    public final ProtectionDomain protectionDomain() {
        return registration.domain;
    }

    @Override
    public final MemorySegment memory() {
        if (closing.hasBegun()) {
            throw new IllegalStateException("the memory region is closed");
        }
        return registration.memory;
    }

    @Override
    public final long address() {
        return base;
    }

    @Override
    public final long length() {
        return registration.memory.byteSize();
    }

    @Override
    public final int lkey() {
        return lkey;
    }

    @Override
    public final int rkey() {
        return rkey;
    }

    @Override
    public final Set<AccessFlag> access() {
        return registration.access;
    }

    @Override
    public final void swap(MemoryRegion other) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "swap: this device cannot exchange the memory of two keys; expected one with REGION_SWAP");
    }

    @Override
    public final void close() {
        closing.once(() -> {
            deregister();
            if (registration.owner != null) {
                registration.owner.release();
            }
            registration.whenClosed.accept(this);
        });
    }

    @Override
    public final String toString() {
        return "MemoryRegion[0x" + Long.toHexString(base) + "+" + length() + " " + access() + "]";
    }
}
