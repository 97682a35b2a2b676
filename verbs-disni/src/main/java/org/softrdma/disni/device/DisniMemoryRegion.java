package org.softrdma.disni.device;

import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.device.IbvMemoryRegion;

/** An {@code ibv_mr} of DiSNI. Thread-safe. */
final class DisniMemoryRegion extends IbvMemoryRegion {
    private final DisniLibrary.Region handle;

    /** Of a region just registered. */
    DisniMemoryRegion(Registration registration, DisniLibrary.Region handle) {
        super(registration, registration.memory().address(), handle.lkey(), handle.rkey());
        this.handle = handle;
    }

    /**
     * DiSNI takes the region for closed before the call that may fail, so a failure leaves it, and its memory, to the
     * process.
     */
    @Override
    protected void deregister() {
        DisniErrors.close(handle::deregister, "a region that is still in use by the device");
    }
}
