package org.softrdma.kv.server.memory;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.server.memory.DeviceArenas.DeviceArena;
import org.softrdma.kv.server.memory.RegisteredArenas.RegisteredArena;
import org.softrdma.kv.store.RemotePage;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Arenas which peers READ by the key of the whole arena and the offset of the item in it ("arena" registration): one
 * region each, on every device. Addresses start at 0 where the device can do that, so that clients do not learn ours.
 * Thread-safe.
 */
public final class RegisteredArenas extends DeviceArenas<RegisteredArena> {
    public RegisteredArenas(VerbsDevice device, ProtectionDomain domain, MemorySource source) {
        super(device, domain, source, access(device));
    }

    private static Set<AccessFlag> access(VerbsDevice device) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE);
        if (device.capabilities().has(Feature.ZERO_BASED)) {
            access.add(AccessFlag.ZERO_BASED);
        }
        return access;
    }

    @Override
    RegisteredArena arena(HostMemory memory, MemoryRegion region) {
        return new RegisteredArena(memory, region);
    }

    @Override
    public long address(long first) {
        for (RegisteredArena arena : all()) {
            if (arena.region().rkey() == Locator.rkey(first)) {
                return Locator.offset(first) < arena.memory().byteSize()
                        ? arena.memory().address() + Locator.offset(first)
                        : UNKNOWN;
            }
        }
        return UNKNOWN;
    }

    /** A line {@code ARENA <rkey> <address> <length>} for each arena, in unsigned decimal digits. */
    @Override
    public String lines() {
        StringBuilder lines = new StringBuilder();
        for (RegisteredArena arena : all()) {
            RemoteRegion region = arena.region().remote();
            lines.append("ARENA ")
                    .append(Integer.toUnsignedString(region.rkey()))
                    .append(' ')
                    .append(Long.toUnsignedString(region.address()))
                    .append(' ')
                    .append(region.length())
                    .append("\r\n");
        }
        return lines.toString();
    }

    /** One arena. */
    public static final class RegisteredArena extends DeviceArena {
        RegisteredArena(HostMemory memory, MemoryRegion region) {
            super(memory, region);
        }

        @Override
        public Optional<RemotePage> cut(long offset, int chunkLength, int chunks) {
            return Optional.of(new Places(region().rkey(), offset, chunkLength));
        }
    }

    /** Chunks are called by the place where they are. */
    private record Places(int rkey, long start, int chunkLength) implements RemotePage {
        @Override
        public int rkey(int chunk) {
            return rkey;
        }

        @Override
        public long offset(int chunk) {
            return start + (long) chunk * chunkLength;
        }

        @Override
        public int readLength(int itemLength) {
            return itemLength;
        }

        @Override
        public void exchange(int chunk, RemotePage other, int otherChunk) {
            // a place is a place
        }

        @Override
        public boolean mayRetire() {
            return true;
        }

        @Override
        public boolean retire() {
            return true; // generations tell what is there
        }
    }
}
