package org.softrdma.kv.server.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.softrdma.kv.store.ArenaSource;
import org.softrdma.kv.store.ItemArena;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Arenas of device memory for the store. Each is registered as a whole, for life: from that region the server WRITEs
 * items to clients. Whether it is also what clients READ is up to the subclass. Thread-safe; closed by the server.
 *
 * @param <A> the arenas
 */
public abstract class DeviceArenas<A extends DeviceArenas.DeviceArena> implements ArenaSource, AutoCloseable {
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final MemorySource source;
    private final Set<AccessFlag> access;
    private final List<A> arenas = new CopyOnWriteArrayList<>();

    DeviceArenas(VerbsDevice device, ProtectionDomain domain, MemorySource source, Set<AccessFlag> access) {
        this.device = device;
        this.domain = domain;
        this.source = source;
        this.access = access;
    }

    @Override
    public final ItemArena create(long length) {
        HostMemory memory = allocate(length);
        try {
            A arena = arena(memory, domain.register(memory.segment(), access));
            arenas.add(arena);
            return arena;
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** Memory that cannot be shown to other processes is memory all the same: clients READ it by the device. */
    final HostMemory allocate(long length) {
        try {
            return device.allocateMemory(length, source);
        } catch (VerbsException e) {
            if (source instanceof MemorySource.Shareable && e.code() == VerbsErrorCode.NOT_SUPPORTED) {
                return device.allocateMemory(length);
            }
            throw e;
        }
    }

    /** An arena in which nothing is yet. */
    abstract A arena(HostMemory memory, MemoryRegion region);

    /**
     * What the client must know to tell a good locator from a bad one, and to find what it names: the answer to
     * {@code rdma arenas} but for its END, each line with its end.
     */
    public abstract String lines();

    /** Memory regions in use. */
    public long regions() {
        return arenas.size();
    }

    /** The arenas there are, in the order in which they were made. */
    final List<A> all() {
        return arenas;
    }

    final ProtectionDomain domain() {
        return domain;
    }

    @Override
    public void close() {
        arenas.forEach(DeviceArena::close);
        arenas.clear();
    }

    /** One arena. */
    public abstract static class DeviceArena implements ItemArena {
        private final HostMemory memory;
        private final MemorySegment segment;
        private final MemoryRegion region;

        DeviceArena(HostMemory memory, MemoryRegion region) {
            this.memory = memory;
            this.segment = memory.segment();
            this.region = region;
        }

        @Override
        public final MemorySegment memory() {
            return segment;
        }

        private void close() {
            region.close();
            memory.close();
        }

        /** The arena as a whole, which always names the same memory: what WRITEs to clients gather from. */
        public final MemoryRegion region() {
            return region;
        }
    }
}
