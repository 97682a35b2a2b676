package org.softrdma.rdmacore.device;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.softrdma.ibverbs.Errno;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsLibrary;

/**
 * The contexts of {@code rdma_get_devices}, the only ones that {@code rdma_create_qp} accepts. They live until this is
 * closed.
 */
public final class DeviceList implements AutoCloseable {
    private final VerbsLibrary library;
    private final long array;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DeviceList(VerbsLibrary library, long array) {
        this.library = library;
        this.array = array;
    }

    /**
     * Opens every device of this machine.
     *
     * @param library C functions
     */
    public static DeviceList open(VerbsLibrary library) {
        return new DeviceList(library, library.getDevices());
    }

    /** The contexts; empty if there is no device, or none can be opened. */
    public List<Long> contexts() {
        List<Long> contexts = new ArrayList<>();
        if (!VerbsLibrary.isError(array)) {
            for (long at = array; CMemory.getLong(at) != 0; at += Long.BYTES) {
                contexts.add(CMemory.getLong(at));
            }
        }
        return contexts;
    }

    /** Why there is no list; empty if there is one. */
    public String problem() {
        return VerbsLibrary.isError(array) ? "rdma_get_devices: " + Errno.text((int) -array) : "";
    }

    /** Closes the contexts that nothing else uses. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true) && !VerbsLibrary.isError(array)) {
            library.freeDevices(array);
        }
    }
}
