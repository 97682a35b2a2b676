package org.softrdma.rdmacore.device;

import org.softrdma.ibverbs.device.IbvMemoryWindow;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.ProtectionDomain;

/** An {@code ibv_mw} by its pointer. Thread-safe. */
final class CoreMemoryWindow extends IbvMemoryWindow {
    private final DeviceContext device;
    private final long pointer;

    private CoreMemoryWindow(DeviceContext device, ProtectionDomain domain, long pointer, Runnable whenClosed) {
        super(domain, CMemory.getInt(pointer + VerbsAbi.WINDOW_RKEY), whenClosed);
        this.device = device;
        this.pointer = pointer;
    }

    /**
     * Allocates the native window.
     *
     * @param nativeDomain pointer of the domain
     * @param whenClosed runs on close
     */
    static CoreMemoryWindow allocate(
            DeviceContext device, ProtectionDomain domain, long nativeDomain, Runnable whenClosed) {
        long pointer = NativeErrors.require(
                "ibv_alloc_mw",
                device.operations().allocateWindow(nativeDomain, VerbsAbi.TYPE_2),
                "a memory window; close some");
        return new CoreMemoryWindow(device, domain, pointer, whenClosed);
    }

    boolean isOf(BindableRegions bindable) {
        return device.bindable() == bindable;
    }

    long pointer() {
        return pointer;
    }

    /**
     * A bind is about to be posted. Held, so that the window stays open meanwhile. The driver reads the key that it
     * already has from the native window.
     *
     * @return the number of the bind
     */
    long posting() {
        if (isClosed()) {
            throw new IllegalStateException("the memory window is closed");
        }
        CMemory.putInt(pointer + VerbsAbi.WINDOW_RKEY, key(held()));
        return nextBind();
    }

    @Override
    protected void deallocate() {
        int errno = device.bindable().alone(() -> device.operations().deallocateWindow(pointer));
        if (!NativeErrors.isClosed(errno)) {
            stillOpen();
        }
        NativeErrors.requireClosed("ibv_dealloc_mw", errno);
    }
}
