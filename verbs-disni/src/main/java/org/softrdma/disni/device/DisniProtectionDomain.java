package org.softrdma.disni.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.device.IbvMemoryRegion;
import org.softrdma.ibverbs.device.IbvMemoryRegion.Registration;
import org.softrdma.ibverbs.device.IbvProtectionDomain;
import org.softrdma.ibverbs.device.OpenDevice;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** An {@code ibv_pd} of DiSNI. Thread-safe. */
final class DisniProtectionDomain extends IbvProtectionDomain {
    private final DisniLibrary.Domain handle;

    /** Wraps a domain that was just allocated; its device counts it already. */
    DisniProtectionDomain(OpenDevice device, DisniLibrary.Domain handle) {
        super(device);
        this.handle = handle;
    }

    DisniLibrary.Domain handle() {
        return handle;
    }

    @Override
    protected void checkZeroBased(MemorySegment memory) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED, "ZERO_BASED: DiSNI does not say where a region's addresses begin");
    }

    @Override
    protected IbvMemoryRegion register(Registration registration) {
        MemorySegment memory = registration.memory();
        try {
            return new DisniMemoryRegion(
                    registration,
                    handle.register(
                            memory.address(), (int) memory.byteSize(), RegionRights.bits(registration.access())));
        } catch (IOException e) {
            throw refused(DisniErrors.text(e), DisniErrors.errno(e), memory, e);
        }
    }

    @Override
    protected void deallocate() {
        DisniErrors.close(handle::deallocate, "a protection domain that is closed");
    }
}
