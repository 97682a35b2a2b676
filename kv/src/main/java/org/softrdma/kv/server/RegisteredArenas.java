package org.softrdma.kv.server;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.softrdma.kv.store.ArenaSource;
import org.softrdma.kv.store.ItemArena;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsDevice;

/**
 * Arenas of device memory, each registered once and for life so that peers may READ it ("arena" registration). Addresses
 * start at 0 where the device can do that, so that clients do not learn ours. Thread-safe; closed by the server.
 */
final class RegisteredArenas implements ArenaSource, AutoCloseable {
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final Set<AccessFlag> access;
    private final List<RegisteredArena> arenas = new CopyOnWriteArrayList<>();

    RegisteredArenas(VerbsDevice device, ProtectionDomain domain) {
        this.device = device;
        this.domain = domain;
        this.access = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE);
        if (device.capabilities().has(Feature.ZERO_BASED)) {
            access.add(AccessFlag.ZERO_BASED);
        }
    }

    @Override
    public ItemArena create(long length) {
        HostMemory memory = device.allocateMemory(length);
        try {
            RegisteredArena arena = new RegisteredArena(memory, domain.register(memory.segment(), access));
            arenas.add(arena);
            return arena;
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** The arenas there are, in the order in which they were made. */
    List<RegisteredArena> all() {
        return arenas;
    }

    @Override
    public void close() {
        for (RegisteredArena arena : arenas) {
            arena.region.close();
            arena.memory.close();
        }
        arenas.clear();
    }

    /** One arena. */
    static final class RegisteredArena implements ItemArena {
        private final HostMemory memory;
        private final MemorySegment segment;
        private final MemoryRegion region;

        RegisteredArena(HostMemory memory, MemoryRegion region) {
            this.memory = memory;
            this.segment = memory.segment();
            this.region = region;
        }

        @Override
        public MemorySegment memory() {
            return segment;
        }

        @Override
        public int rkey() {
            return region.rkey();
        }

        /** The registration: what WRITEs to clients gather from, and what clients need to know. */
        MemoryRegion region() {
            return region;
        }
    }
}
