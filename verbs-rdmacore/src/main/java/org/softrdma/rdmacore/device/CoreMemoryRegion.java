package org.softrdma.rdmacore.device;

import java.util.function.ToLongFunction;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.device.IbvMemoryRegion;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** An {@code ibv_mr} by its pointer. Thread-safe. */
final class CoreMemoryRegion extends IbvMemoryRegion {
    private final DeviceContext device;
    private final ToLongFunction<ProtectionDomain> domains;
    private final long pointer;

    /**
     * Wraps a region that was just registered.
     *
     * @param domains pointer of a domain of the device
     * @param registration what was registered
     * @param base its first address
     * @param pointer native region
     */
    CoreMemoryRegion(
            DeviceContext device,
            ToLongFunction<ProtectionDomain> domains,
            Registration registration,
            long base,
            long pointer) {
        super(
                registration,
                base,
                CMemory.getInt(pointer + VerbsAbi.REGION_LKEY),
                CMemory.getInt(pointer + VerbsAbi.REGION_RKEY));
        this.device = device;
        this.domains = domains;
        this.pointer = pointer;
        if (isBindable(registration)) {
            device.bindable().add(lkey(), pointer);
        }
    }

    private static boolean isBindable(Registration registration) {
        return registration.access().contains(AccessFlag.BIND_WINDOWS);
    }

    @Override
    protected Keys reregister(Registration next, Reregistration change) {
        boolean memory = change.memory() != null;
        boolean domain = change.domain() != null;
        boolean access = change.access() != null;
        int errno = device.library()
                .reregisterRegion(
                        pointer,
                        (memory ? VerbsAbi.CHANGE_MEMORY : 0)
                                | (domain ? VerbsAbi.CHANGE_DOMAIN : 0)
                                | (access ? VerbsAbi.CHANGE_ACCESS : 0),
                        domain ? domains.applyAsLong(next.domain()) : 0,
                        memory ? next.memory().address() : 0,
                        memory ? next.memory().byteSize() : 0,
                        access ? RegionRights.bits(next.access()) : 0);
        if (errno != 0) {
            if (errno < 0) {
                inDoubt(next);
            }
            throw notChanged(errno);
        }
        int lkey = CMemory.getInt(pointer + VerbsAbi.REGION_LKEY);
        if (access().contains(AccessFlag.BIND_WINDOWS)) {
            device.bindable().remove(lkey());
        }
        if (isBindable(next)) {
            device.bindable().add(lkey, pointer);
        }
        return new Keys(
                memory ? next.memory().address() : address(), lkey, CMemory.getInt(pointer + VerbsAbi.REGION_RKEY));
    }

    private VerbsException notChanged(int errno) {
        return refused(
                "ibv_rereg_mr",
                Math.abs(errno),
                errno < 0 ? "the region can only be closed now" : "the region is as it was");
    }

    @Override
    protected void deregister() {
        boolean bindable = access().contains(AccessFlag.BIND_WINDOWS);
        int errno = bindable
                ? device.bindable().remove(lkey(), () -> device.library().deregisterRegion(pointer))
                : device.library().deregisterRegion(pointer);
        if (!NativeErrors.isClosed(errno)) {
            stillOpen();
            throw refused("ibv_dereg_mr", Math.abs(errno), "the region is still in use by the device");
        }
    }

    /** rxe says EINVAL of a region that a window is bound to. */
    private VerbsException refused(String function, int errno, String what) {
        boolean bound = errno == Errno.EINVAL && access().contains(AccessFlag.BIND_WINDOWS);
        return bound
                ? new VerbsException(
                        VerbsErrorCode.BUSY,
                        function + ": " + Errno.text(errno) + ": " + what + "; a window is bound to it")
                : NativeErrors.failed(function, errno, what);
    }
}
