package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.device.DriverEvents;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.Capabilities;

/**
 * The part of a device that its objects know: the context, the functions to call with it, and what it can do. It lies
 * below all of them, so that none of them knows {@link CoreDevice}. Thread-safe.
 */
final class DeviceContext {
    private final VerbsLibrary library;
    private final long context;
    private final Optional<InetSocketAddress> address;
    private final VerbsLibrary.Operations operations;
    private final ContextProbe probe;
    private final DeviceFaults faults;
    private final BindableRegions bindable = new BindableRegions();
    private final SharedContext shared;
    /** {@code struct ibv_qp_attr} with {@code IBV_QPS_ERR}; read only. */
    private final Arena arena = Arena.ofShared();

    private final long errorState;
    /** Found when it is needed first; finding it twice does no harm. */
    private volatile @Nullable OwnGid ownGid;

    /**
     * Finds out what the context can do, and joins the other devices that share it.
     *
     * @param provider name of the provider
     * @param library C functions
     * @param context of librdmacm
     * @param address the address to connect from, with port 0; empty to let routing choose
     * @param events what happens to the device as a whole goes there
     */
    DeviceContext(
            String provider,
            VerbsLibrary library,
            long context,
            Optional<InetSocketAddress> address,
            DriverEvents events) {
        this.library = library;
        this.context = context;
        this.address = address;
        faults = new DeviceFaults(events);
        operations = library.operations(context);
        probe = ContextProbe.of(provider, library, context, operations);
        errorState = arena.allocate(VerbsAbi.QUEUE_PAIR_ATTRIBUTES).address();
        CMemory.putInt(errorState, VerbsAbi.STATE_ERROR);
        shared = SharedContext.join(library, context, probe.softIwarp(), faults);
    }

    VerbsLibrary library() {
        return library;
    }

    VerbsLibrary.Operations operations() {
        return operations;
    }

    long context() {
        return context;
    }

    /** The address to connect from, with port 0; empty to let routing choose. */
    Optional<InetSocketAddress> address() {
        return address;
    }

    /**
     * Where queue pairs without an id send from.
     *
     * @throws org.softrdma.verbs.VerbsException {@code ADDRESS_NOT_AVAILABLE} if there is nothing
     */
    OwnGid ownGid() {
        OwnGid known = ownGid;
        if (known == null) {
            known = OwnGid.find(library, context, probe.name(), address);
            ownGid = known;
        }
        return known;
    }

    ContextProbe probe() {
        return probe;
    }

    Capabilities capabilities() {
        return probe.capabilities();
    }

    boolean isSoftIwarp() {
        return probe.softIwarp();
    }

    /** Name for messages. */
    String name() {
        return probe.name() + " (rdma-core, " + probe.capabilities().transport() + ")";
    }

    SharedContext shared() {
        return shared;
    }

    /** The regions that windows can be bound to. */
    BindableRegions bindable() {
        return bindable;
    }

    DeviceFaults faults() {
        return faults;
    }

    /**
     * {@code ibv_modify_qp} to {@code IBV_QPS_ERR}; a queue pair for which it fails is in error already, or not
     * connected.
     */
    void moveToError(long queuePair) {
        library.modifyQueuePair(queuePair, errorState, VerbsAbi.MODIFY_STATE);
    }

    /** Leaves the devices that share the context. */
    void close() {
        shared.leave(faults);
        arena.close();
    }
}
