package org.softrdma.ibverbs.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.LockedMemory;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;
import org.softrdma.verbs.provider.HostMemories;

/** An {@code ibv_pd}, and a count of what it contains. Thread-safe. */
public abstract class IbvProtectionDomain implements ProtectionDomain {
    private static final String WHAT = "a memory region";

    private final OpenDevice device;
    private final DomainContents contents = new DomainContents();

    /**
     * Wraps a domain that was just allocated.
     *
     * @param device counts it already
     */
    protected IbvProtectionDomain(OpenDevice device) {
        this.device = device;
    }

    // ---- what a provider does

    /**
     * Checks that the memory can be a region whose addresses begin at 0.
     *
     * @throws VerbsException {@code NOT_SUPPORTED}
     */
    protected abstract void checkZeroBased(MemorySegment memory);

    /**
     * {@code ibv_reg_mr}.
     *
     * @param registration checked
     * @throws VerbsException if it is refused
     */
    protected abstract IbvMemoryRegion register(IbvMemoryRegion.Registration registration);

    /** {@code ibv_dealloc_pd}; may throw after {@link #stillOpen}. */
    protected abstract void deallocate();

    /**
     * The native domain could not be deallocated, so that {@link #close} may be called again. From {@link
     * #deallocate}.
     */
    protected final void stillOpen() {
        device.childOpened(); // close counts it as closed whatever happens
        contents.stillOpen();
    }

    /**
     * The refusal of a registration.
     *
     * @param problem the C function and its error, for messages
     * @param errno of the call, positive
     * @param memory to be registered
     * @param cause what was thrown, or null
     */
    protected static VerbsException refused(
            String problem, int errno, MemorySegment memory, @Nullable Throwable cause) {
        if (errno == Errno.ENOMEM || errno == Errno.EAGAIN) {
            return new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    problem + ": " + memory.byteSize() + " bytes "
                            + LockedMemory.ofThisProcess().howToPinMore(),
                    cause);
        }
        return new VerbsException(
                Errno.code(errno),
                problem + ": " + memory.byteSize() + " bytes at 0x" + Long.toHexString(memory.address())
                        + " are not registered",
                cause);
    }

    // ---- ProtectionDomain

    final boolean isOf(OpenDevice other) {
        return device == other;
    }

    @Override
    public final MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        Set<AccessFlag> granted = RegionRights.granted(
                memory,
                access,
                device.traits().capabilities().maxRegionLength(),
                device.traits().isIwarp());
        if (granted.contains(AccessFlag.ZERO_BASED)) {
            checkZeroBased(memory);
        }
        return Creation.counted(
                contents::regionOpened,
                () -> register(memory, granted, HostMemories.acquire(memory)),
                contents::regionClosed,
                WHAT);
    }

    private IbvMemoryRegion register(
            MemorySegment memory, Set<AccessFlag> granted, HostMemories.@Nullable Allocation owner) {
        return Creation.orUndo(
                () -> keep(
                        register(new IbvMemoryRegion.Registration(this, memory, granted, owner, this::regionClosed))),
                () -> {
                    if (owner != null) {
                        owner.release();
                    }
                },
                WHAT);
    }

    /** Keeps the region reachable: neither the C object nor a key keeps the memory alive. */
    private IbvMemoryRegion keep(IbvMemoryRegion region) {
        return Creation.orUndo(
                () -> {
                    device.regionOpened(region);
                    return region;
                },
                region::deregister,
                WHAT);
    }

    private void regionClosed(MemoryRegion region) {
        device.regionClosed(region);
        contents.regionClosed();
    }

    final DomainContents contents() {
        return contents;
    }

    @Override
    public final void close() {
        contents.close(() -> {
            try {
                deallocate();
            } finally {
                device.childClosed();
            }
        });
    }
}
