package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.ibverbs.device.IbvAddressHandle;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** An {@code ibv_ah} by its pointer. Thread-safe. */
final class CoreAddressHandle extends IbvAddressHandle {
    private final DeviceContext device;
    private final long pointer;

    private CoreAddressHandle(DeviceContext device, Parts parts, long pointer) {
        super(parts);
        this.device = device;
        this.pointer = pointer;
    }

    /**
     * Creates the native handle; the kernel asks the network for the peer's hardware address.
     *
     * @param parts of the device
     * @param nativeDomain pointer of the domain
     */
    static CoreAddressHandle create(DeviceContext device, Parts parts, long nativeDomain) {
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(VerbsAbi.ADDRESS_HANDLE_ATTRIBUTES).address();
            device.ownGid().writeWay(attributes, parts.host());
            long pointer = device.library().createAddressHandle(nativeDomain, attributes);
            if (VerbsLibrary.isError(pointer)) {
                throw refused((int) -pointer, parts);
            }
            return new CoreAddressHandle(device, parts, pointer);
        }
    }

    /** Drivers report a host that they cannot find by several errors; what was asked of them was checked. */
    private static VerbsException refused(int errno, Parts parts) {
        String host = SocketAddressText.of(parts.host());
        if (errno == Errno.EINVAL) {
            return new VerbsException(
                    VerbsErrorCode.UNREACHABLE,
                    "ibv_create_ah: " + Errno.text(errno) + ": no way to " + host + " was found");
        }
        return NativeErrors.failed("ibv_create_ah", errno, "a way to " + host);
    }

    /**
     * The native handle, for a post under a send lock.
     *
     * @param handle that the application gave
     * @param domain of the queue pair
     * @throws IllegalArgumentException if it is of another domain or device
     * @throws IllegalStateException if it is closed
     */
    static long pointer(@Nullable AddressHandle handle, ProtectionDomain domain) {
        if (!(handle instanceof CoreAddressHandle mine) || mine.protectionDomain() != domain) {
            throw new IllegalArgumentException(handle + ": expected an address handle of the queue pair's domain");
        }
        if (mine.isClosed()) {
            throw new IllegalStateException(handle + " is closed");
        }
        return mine.pointer;
    }

    @Override
    protected void destroy() {
        int errno = device.library().destroyAddressHandle(pointer);
        if (!NativeErrors.isClosed(errno)) {
            stillOpen();
        }
        NativeErrors.requireClosed("ibv_destroy_ah", errno);
    }
}
