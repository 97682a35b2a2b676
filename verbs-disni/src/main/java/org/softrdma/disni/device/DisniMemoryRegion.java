package org.softrdma.disni.device;

import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.device.IbvMemoryRegion;

/** An {@code ibv_mr} of DiSNI. Thread-safe. */
final class DisniMemoryRegion extends IbvMemoryRegion {
    private final DisniLibrary.Region handle;

    /** Wraps a region that was just registered. */
    DisniMemoryRegion(Registration registration, DisniLibrary.Region handle) {
        super(registration, registration.memory().address(), handle.lkey(), handle.rkey());
        this.handle = handle;
    }

    /**
     * DiSNI considers the region closed before the call that may fail. So after a failure it stays registered, with its
     * memory, for the life of the process.
     */
    @Override
    protected void deregister() {
        DisniErrors.close(handle::deregister, "a region that is still in use by the device");
    }
}
