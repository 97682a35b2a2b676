package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.ForeignMemory;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.Window;
import org.softrdma.sim.queue.SoftSharedReceiveQueue;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;
import org.softrdma.verbs.provider.DomainContents.Kind;

/** A protection domain: a number in the stag table, and a count of what it contains. Thread-safe. */
final class SoftProtectionDomain implements DeviceDomain {
    private final SoftRdmaDevice device;
    private final int number;
    private final DomainContents contents = new DomainContents();

    SoftProtectionDomain(SoftRdmaDevice device, int number) {
        this.device = device;
        this.number = number;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        return register(memory, access, PinningPolicy.AUTO);
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access, PinningPolicy pinning) {
        device.progress().checkThread();
        device.checkOffered(memory.byteSize(), access);
        // Not under the lock: EAGER takes time in proportion to the memory, and may wait for engines.
        return Creation.counted(
                () -> contents.opened(Kind.MEMORY_REGION),
                () -> device.registrar().register(this, memory, access, pinning),
                () -> contents.closed(Kind.MEMORY_REGION),
                "a memory region");
    }

    /** Registers memory of another process, {@link SoftRdmaDevice#register}. */
    MemoryRegion register(ForeignMemory memory, long base, Set<AccessFlag> access) {
        device.progress().checkThread();
        device.checkOffered(memory.length(), access);
        return Creation.counted(
                () -> contents.opened(Kind.MEMORY_REGION),
                () -> device.registrar().register(this, memory, base, access),
                () -> contents.closed(Kind.MEMORY_REGION),
                "a memory region");
    }

    @Override
    public void advise(Advice advice, boolean wait, long address, long length, int lkey) {
        device.progress().checkThread();
        Runnable prefetch = device.registrar().prefetch(number, advice, address, length, lkey);
        if (wait || !device.progress().isThreaded()) {
            prefetch.run();
        } else {
            device.prefetchLater(prefetch);
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
        device.progress().checkThread();
        require(Feature.SHARED_RECEIVE_QUEUES, "createSharedReceiveQueue");
        return device.createSharedReceiveQueue(
                this, new SoftSharedReceiveQueue.Size(maxWorkRequests, maxScatterGather));
    }

    @Override
    public UnconnectedQueuePair createQueuePair(QueuePairAttributes attributes) {
        device.progress().checkThread();
        require(attributes.type().feature(), "createQueuePair of type " + attributes.type());
        return device.queuePairs().create(this, attributes);
    }

    @Override
    public AddressHandle createAddressHandle(InetSocketAddress host) {
        return createAddressHandle(null, host);
    }

    /** A way from an address of this host; null for that of the device. */
    AddressHandle createAddressHandle(@Nullable InetAddress local, InetSocketAddress host) {
        device.progress().checkThread();
        require(Feature.UNRELIABLE_DATAGRAM, "createAddressHandle");
        return Creation.counted(
                () -> contents.opened(Kind.ADDRESS_HANDLE),
                () -> device.addressHandle(this, local, host, () -> contents.closed(Kind.ADDRESS_HANDLE)),
                () -> contents.closed(Kind.ADDRESS_HANDLE),
                "an address handle");
    }

    @Override
    public MemoryWindow allocateWindow() {
        return allocateWindow(false);
    }

    /** A window that one queue pair has, or that all of the domain share. */
    MemoryWindow allocateWindow(boolean shared) {
        device.progress().checkThread();
        require(Feature.MEMORY_WINDOWS, "allocateWindow");
        return Creation.counted(
                () -> contents.opened(Kind.MEMORY_WINDOW),
                () -> device.registrar().allocateWindow(this, shared),
                () -> contents.closed(Kind.MEMORY_WINDOW),
                "a memory window");
    }

    @Override
    public boolean isOf(StagTable table) {
        return device.registrar().fills(table);
    }

    @Override
    public void require(Feature feature, String what) {
        device.require(feature, what);
    }

    @Override
    public void opened(Kind kind) {
        contents.opened(kind);
    }

    @Override
    public void closed(Kind kind) {
        contents.closed(kind);
    }

    @Override
    public Window window(@Nullable MemoryWindow window) {
        return device.registrar().window(window);
    }

    @Override
    public void close() {
        device.progress().checkThread();
        contents.close(device::childClosed);
    }
}
