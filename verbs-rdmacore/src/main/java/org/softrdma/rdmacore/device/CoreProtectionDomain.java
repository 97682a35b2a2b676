package org.softrdma.rdmacore.device;

import java.lang.foreign.MemorySegment;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.device.IbvAddressHandle;
import org.softrdma.ibverbs.device.IbvMemoryRegion;
import org.softrdma.ibverbs.device.IbvMemoryRegion.Registration;
import org.softrdma.ibverbs.device.IbvMemoryWindow;
import org.softrdma.ibverbs.device.IbvProtectionDomain;
import org.softrdma.ibverbs.device.IbvSharedReceiveQueue;
import org.softrdma.ibverbs.device.OpenDevice;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** An {@code ibv_pd} by its pointer. Thread-safe. */
final class CoreProtectionDomain extends IbvProtectionDomain {
    private static final long PAGE = 4096;

    private final DeviceContext device;
    private final long pointer;

    /** Allocates the native domain; its device counts it already. */
    CoreProtectionDomain(DeviceContext device, OpenDevice counts) {
        super(counts);
        this.device = device;
        pointer = NativeErrors.require(
                "ibv_alloc_pd", device.library().allocateDomain(device.context()), "a protection domain");
    }

    long pointer() {
        return pointer;
    }

    /**
     * The kernel requires that the region's first address and the memory's have the same offset in a page
     * (uverbs_cmd.c, ib_uverbs_reg_mr).
     */
    @Override
    protected void checkZeroBased(MemorySegment memory) {
        if (!device.capabilities().has(Feature.ZERO_BASED)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED, "ZERO_BASED: " + device.name() + " has no such regions");
        }
        if (memory.address() % PAGE != 0) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "ZERO_BASED: the memory begins at 0x" + Long.toHexString(memory.address())
                            + ", expected a multiple of " + PAGE + " as allocateMemory gives");
        }
    }

    @Override
    protected IbvMemoryRegion register(Registration registration) {
        MemorySegment memory = registration.memory();
        long base = registration.access().contains(AccessFlag.ZERO_BASED) ? 0 : memory.address();
        long region = device.library()
                .registerRegion(
                        pointer, memory.address(), memory.byteSize(), base, RegionRights.bits(registration.access()));
        if (VerbsLibrary.isError(region)) {
            int errno = (int) -region;
            throw refused("ibv_reg_mr: " + Errno.text(errno), errno, memory, null);
        }
        return new CoreMemoryRegion(
                device, domain -> ((CoreProtectionDomain) domain).pointer, registration, base, region);
    }

    @Override
    protected IbvSharedReceiveQueue newSharedReceiveQueue(IbvSharedReceiveQueue.Parts parts) {
        return CoreSharedReceiveQueue.create(device, parts, pointer);
    }

    @Override
    protected IbvMemoryWindow newWindow(Runnable whenClosed) {
        return CoreMemoryWindow.allocate(device, this, pointer, whenClosed);
    }

    @Override
    protected IbvAddressHandle newAddressHandle(IbvAddressHandle.Parts parts) {
        return CoreAddressHandle.create(device, parts, pointer);
    }

    @Override
    protected void deallocate() {
        int errno = device.library().deallocateDomain(pointer);
        if (!NativeErrors.isClosed(errno)) {
            stillOpen();
        }
        NativeErrors.requireClosed("ibv_dealloc_pd", errno);
    }
}
