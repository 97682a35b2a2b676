package org.softrdma.rdmacore.device;

import org.softrdma.ibverbs.device.IbvMemoryRegion;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;

/** An {@code ibv_mr} by its pointer. Thread-safe. */
final class CoreMemoryRegion extends IbvMemoryRegion {
    private final VerbsLibrary library;
    private final long pointer;

    /**
     * Wraps a region that was just registered.
     *
     * @param library C functions
     * @param registration what was registered
     * @param base its first address
     * @param pointer native region
     */
    CoreMemoryRegion(VerbsLibrary library, Registration registration, long base, long pointer) {
        super(
                registration,
                base,
                CMemory.getInt(pointer + VerbsAbi.REGION_LKEY),
                CMemory.getInt(pointer + VerbsAbi.REGION_RKEY));
        this.library = library;
        this.pointer = pointer;
    }

    @Override
    protected void deregister() {
        int errno = library.deregisterRegion(pointer);
        if (!NativeErrors.isClosed(errno)) {
            stillOpen();
            throw NativeErrors.failed("ibv_dereg_mr", errno, "the region is still in use by the device");
        }
    }
}
