package org.softrdma.ibverbs.device;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.LockedMemory;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;
import org.softrdma.verbs.provider.HostMemories;
import org.softrdma.verbs.provider.LockedGate;

/** An {@code ibv_pd}, and a count of what it contains. Thread-safe. */
public abstract class IbvProtectionDomain implements ProtectionDomain {
    private static final String WHAT = "a memory region";

    private final OpenDevice device;
    private final DomainContents contents = new DomainContents();
    /** Of the queue pairs that may post with an address handle of this domain. */
    private final Set<LockedGate> sendGates = ConcurrentHashMap.newKeySet();

    @SuppressWarnings("this-escape") // kept, not called
    private final IbvMemoryRegion.Home home = new RegionHome();

    /**
     * Wraps a domain that was just allocated.
     *
     * @param device counts it already
     */
    protected IbvProtectionDomain(OpenDevice device) {
        this.device = device;
    }

    // ---- what a provider does

    /**
     * Checks that the memory can be a region whose addresses begin at 0.
     *
     * @throws VerbsException {@code NOT_SUPPORTED}
     */
    protected abstract void checkZeroBased(MemorySegment memory);

    /**
     * {@code ibv_reg_mr}.
     *
     * @param registration checked
     * @throws VerbsException if it is refused
     */
    protected abstract IbvMemoryRegion register(IbvMemoryRegion.Registration registration);

    /**
     * {@code ibv_create_srq}, where the device has {@link Feature#SHARED_RECEIVE_QUEUES}.
     *
     * @param parts checked
     * @throws VerbsException if it is refused
     */
    protected IbvSharedReceiveQueue newSharedReceiveQueue(IbvSharedReceiveQueue.Parts parts) {
        throw new IllegalStateException("a device with " + Feature.SHARED_RECEIVE_QUEUES + " must make " + parts);
    }

    /**
     * {@code ibv_alloc_mw}, where the device has {@link Feature#MEMORY_WINDOWS}.
     *
     * @param whenClosed runs when it is closed
     * @throws VerbsException if it is refused
     */
    protected IbvMemoryWindow newWindow(Runnable whenClosed) {
        throw new IllegalStateException("a device with " + Feature.MEMORY_WINDOWS + " must make one");
    }

    /**
     * {@code ibv_create_ah}, where the device has {@link Feature#UNRELIABLE_DATAGRAM}.
     *
     * @param parts checked
     * @throws VerbsException if it is refused
     */
    protected IbvAddressHandle newAddressHandle(IbvAddressHandle.Parts parts) {
        throw new IllegalStateException("a device with " + Feature.UNRELIABLE_DATAGRAM + " must make " + parts);
    }

    /** {@code ibv_dealloc_pd}; may throw after {@link #stillOpen}. */
    protected abstract void deallocate();

    /**
     * The native domain could not be deallocated, so that {@link #close} may be called again. From {@link
     * #deallocate}.
     */
    protected final void stillOpen() {
        device.childOpened(); // close counts it as closed whatever happens
        contents.stillOpen();
    }

    /**
     * The refusal of a registration.
     *
     * @param problem the C function and its error, for messages
     * @param errno of the call, positive
     * @param memory to be registered
     * @param cause what was thrown, or null
     */
    protected static VerbsException refused(
            String problem, int errno, MemorySegment memory, @Nullable Throwable cause) {
        if (errno == Errno.ENOMEM || errno == Errno.EAGAIN) {
            return new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    problem + ": " + memory.byteSize() + " bytes "
                            + LockedMemory.ofThisProcess().howToPinMore(),
                    cause);
        }
        return new VerbsException(
                Errno.code(errno),
                problem + ": " + memory.byteSize() + " bytes at 0x" + Long.toHexString(memory.address())
                        + " are not registered",
                cause);
    }

    // ---- ProtectionDomain

    final boolean isOf(OpenDevice other) {
        return device == other;
    }

    @Override
    public final MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        Set<AccessFlag> granted = granted(memory, access);
        if (granted.contains(AccessFlag.ZERO_BASED)) {
            checkZeroBased(memory);
        }
        return Creation.counted(
                () -> contents.opened(DomainContents.Kind.MEMORY_REGION),
                () -> register(memory, granted, HostMemories.acquire(memory)),
                () -> contents.closed(DomainContents.Kind.MEMORY_REGION),
                WHAT);
    }

    private Set<AccessFlag> granted(MemorySegment memory, Set<AccessFlag> access) {
        return RegionRights.granted(
                memory, access, device.traits().capabilities(), device.traits().isIwarp());
    }

    private IbvMemoryRegion register(
            MemorySegment memory, Set<AccessFlag> granted, HostMemories.@Nullable Allocation owner) {
        return Creation.orUndo(
                () -> keep(register(new IbvMemoryRegion.Registration(this, memory, granted, owner, home))),
                () -> {
                    if (owner != null) {
                        owner.release();
                    }
                },
                WHAT);
    }

    /** Keeps the region reachable: neither the C object nor a key keeps the memory alive. */
    private IbvMemoryRegion keep(IbvMemoryRegion region) {
        return Creation.orUndo(
                () -> {
                    device.regionOpened(region);
                    return region;
                },
                region::deregister,
                WHAT);
    }

    /** What this domain does for its regions. */
    private final class RegionHome implements IbvMemoryRegion.Home {
        @Override
        public IbvMemoryRegion.Registration prepare(IbvMemoryRegion.Registration current, Reregistration change) {
            if (!device.traits().capabilities().has(Feature.REREGISTRATION)) {
                throw new VerbsException(
                        VerbsErrorCode.NOT_SUPPORTED,
                        "reregister: " + device.traits().name() + " has no " + Feature.REREGISTRATION
                                + "; close the region and register anew");
            }
            IbvProtectionDomain next = domain(change);
            MemorySegment memory = change.memory() == null ? current.memory() : change.memory();
            Set<AccessFlag> granted = granted(memory, change.access() == null ? current.access() : change.access());
            checkBase(current, granted, change.memory() != null);
            if (next == IbvProtectionDomain.this) {
                return prepared(next, memory, granted, current);
            }
            return Creation.counted(
                    next.home::entered, () -> prepared(next, memory, granted, current), next.home::left, WHAT);
        }

        private IbvProtectionDomain domain(Reregistration change) {
            ProtectionDomain asked = change.domain();
            if (asked == null) {
                return IbvProtectionDomain.this;
            }
            if (!(asked instanceof IbvProtectionDomain mine) || !mine.isOf(device)) {
                throw new IllegalArgumentException("the protection domain belongs to another device, not to "
                        + device.traits().name());
            }
            return mine;
        }

        /** ibv_rereg_mr has no argument for the first address: it is the memory's own. */
        private void checkBase(IbvMemoryRegion.Registration current, Set<AccessFlag> granted, boolean memoryChanges) {
            boolean was = current.access().contains(AccessFlag.ZERO_BASED);
            boolean willBe = granted.contains(AccessFlag.ZERO_BASED);
            if (was != willBe || (willBe && memoryChanges)) {
                throw new VerbsException(
                        VerbsErrorCode.NOT_SUPPORTED,
                        "reregister: this device cannot move a region to another first address, nor one from 0 to"
                                + " other memory; close the region and register anew");
            }
        }

        private IbvMemoryRegion.Registration prepared(
                IbvProtectionDomain next,
                MemorySegment memory,
                Set<AccessFlag> granted,
                IbvMemoryRegion.Registration current) {
            HostMemories.Allocation owner =
                    memory.equals(current.memory()) ? current.owner() : HostMemories.acquire(memory);
            return new IbvMemoryRegion.Registration(next, memory, granted, owner, next.home);
        }

        @Override
        public void entered() {
            contents.opened(DomainContents.Kind.MEMORY_REGION);
        }

        @Override
        public void left() {
            contents.closed(DomainContents.Kind.MEMORY_REGION);
        }

        @Override
        public void closed(MemoryRegion region) {
            device.regionClosed(region);
        }
    }

    // ---- windows and shared receive queues

    @Override
    public final MemoryWindow allocateWindow() {
        if (!device.traits().capabilities().has(Feature.MEMORY_WINDOWS)) {
            throw lacks("allocateWindow", Feature.MEMORY_WINDOWS);
        }
        return Creation.counted(
                () -> contents.opened(DomainContents.Kind.MEMORY_WINDOW),
                () -> newWindow(() -> contents.closed(DomainContents.Kind.MEMORY_WINDOW)),
                () -> contents.closed(DomainContents.Kind.MEMORY_WINDOW),
                "a memory window");
    }

    @Override
    public final SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
        Capabilities capabilities = device.traits().capabilities();
        if (!capabilities.has(Feature.SHARED_RECEIVE_QUEUES)) {
            throw lacks("createSharedReceiveQueue", Feature.SHARED_RECEIVE_QUEUES);
        }
        check("maxWorkRequests", maxWorkRequests, capabilities.maxSharedReceiveWorkRequests());
        check("maxScatterGather", maxScatterGather, capabilities.maxScatterGather());
        return Creation.counted(
                () -> contents.opened(DomainContents.Kind.SHARED_RECEIVE_QUEUE),
                () -> sharedReceiveQueue(maxWorkRequests, maxScatterGather),
                () -> contents.closed(DomainContents.Kind.SHARED_RECEIVE_QUEUE),
                "a shared receive queue");
    }

    private IbvSharedReceiveQueue sharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
        long number = device.sharedReceives().take();
        return Creation.orUndo(
                () -> {
                    IbvSharedReceiveQueue made = newSharedReceiveQueue(new IbvSharedReceiveQueue.Parts(
                            device,
                            this,
                            number,
                            maxWorkRequests,
                            maxScatterGather,
                            () -> contents.closed(DomainContents.Kind.SHARED_RECEIVE_QUEUE)));
                    device.sharedReceives().set(number, made.receives());
                    return made;
                },
                () -> device.sharedReceives().giveBack(number),
                "a shared receive queue");
    }

    // ---- queue pairs without a connection manager, and address handles

    @Override
    public final UnconnectedQueuePair createQueuePair(QueuePairAttributes attributes) {
        requireFeature("createQueuePair of a domain", attributes.type().feature());
        return device.createQueuePair(this, attributes);
    }

    @Override
    public final AddressHandle createAddressHandle(InetSocketAddress host) {
        requireFeature("createAddressHandle", Feature.UNRELIABLE_DATAGRAM);
        if (host.isUnresolved()) {
            throw new VerbsException(VerbsErrorCode.UNREACHABLE, "unknown host " + host.getHostString());
        }
        return Creation.counted(
                () -> contents.opened(DomainContents.Kind.ADDRESS_HANDLE),
                () -> newAddressHandle(new IbvAddressHandle.Parts(
                        this, host, this::awaitPosts, () -> contents.closed(DomainContents.Kind.ADDRESS_HANDLE))),
                () -> contents.closed(DomainContents.Kind.ADDRESS_HANDLE),
                "an address handle");
    }

    private void requireFeature(String what, Feature feature) {
        if (!device.traits().capabilities().has(feature)) {
            throw lacks(what, feature);
        }
    }

    /** A queue pair of datagrams was made, and posts under this lock. */
    final void posts(LockedGate sendGate) {
        sendGates.add(sendGate);
    }

    /** It is closed. */
    final void postsNoMore(LockedGate sendGate) {
        sendGates.remove(sendGate);
    }

    /** Returns when every post is done that had begun before. */
    private void awaitPosts() {
        sendGates.forEach(IbvProtectionDomain::passThrough);
    }

    private static void passThrough(LockedGate sendGate) {
        sendGate.enter();
        try {
            // Who held it has released it.
        } finally {
            sendGate.exit();
        }
    }

    private static void check(String name, int asked, int most) {
        if (asked < 1 || asked > most) {
            throw new IllegalArgumentException(name + "=" + asked + ": expected 1 to " + most);
        }
    }

    private VerbsException lacks(String what, Feature feature) {
        return new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                what + ": this device (" + device.traits().name() + ") has no " + feature);
    }

    final DomainContents contents() {
        return contents;
    }

    @Override
    public final void close() {
        contents.close(() -> {
            try {
                deallocate();
            } finally {
                device.childClosed();
            }
        });
    }
}
