package org.softrdma.kv.server.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.server.memory.DeviceArenas.DeviceArena;
import org.softrdma.kv.server.memory.RegisteredChunks.ChunkArena;
import org.softrdma.kv.store.RemotePage;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Arenas whose chunks peers READ by an rkey each ("chunk" registration: Stuedi et al., Wimpy Nodes with 10GbE, 2012).
 * A key of the store keeps its rkey for as long as it has an item and the class of that does not change, because the
 * regions of the old and the new chunk are swapped when it is replaced; so clients READ the new item where they found
 * the old one.
 *
 * <p>Chunks are registered when their page is cut, never on the way of a set. Their regions are closed with the
 * server only, and swapped within a class only, so that no rkey that a client may hold is ever revoked or shrinks:
 * either would be an access error, which ends the client's queue pair. When a page becomes one of another class, the
 * rkeys of its chunks name a tombstone from then on, a dead chunk of their length that all of a class share; so each
 * page that moves takes as many regions as it had chunks, for good. At most half of all regions are such: then pages stay.
 *
 * <p>Regions are limited by the device, and some must be left for queue pairs. When there are no more, no further
 * page is cut and the store makes room by evicting. Thread-safe.
 */
public final class RegisteredChunks extends DeviceArenas<ChunkArena> {
    private static final Logger LOG = LoggerFactory.getLogger(RegisteredChunks.class);

    /** Regions left to the arenas themselves and to others that use the device. */
    private static final int SPARE_REGIONS = 256;

    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);

    private final SlabGeometry geometry;
    private final ReentrantLock lock = new ReentrantLock();
    private final Int2ObjectHashMap<MemoryRegion> regions = new Int2ObjectHashMap<>();

    /** Dead chunks, by length. */
    private final Int2ObjectHashMap<HostMemory> tombstones = new Int2ObjectHashMap<>();

    private long limit;

    /** Regions that name tombstones. */
    private int buried;

    private boolean warned;

    /**
     * No arenas yet.
     *
     * @param source where their memory comes from
     * @param queuePairs regions left for the queue pairs of clients
     * @throws IllegalArgumentException if the device cannot do it
     */
    public RegisteredChunks(
            VerbsDevice device, ProtectionDomain domain, MemorySource source, SlabGeometry geometry, int queuePairs) {
        super(device, domain, source, EnumSet.of(AccessFlag.LOCAL_WRITE));
        for (Feature feature : new Feature[] {Feature.ZERO_BASED, Feature.REGION_SWAP}) {
            if (!device.capabilities().has(feature)) {
                throw new IllegalArgumentException("registration chunk needs the feature " + feature + ", which device "
                        + device.name() + " does not have; use registration arena");
            }
        }
        this.geometry = geometry;
        this.limit = (long) device.capabilities().maxMemoryRegions() - queuePairs - SPARE_REGIONS;
        if (limit < 1) {
            throw new IllegalArgumentException("registration chunk needs more memory regions than the "
                    + device.capabilities().maxMemoryRegions() + " of device " + device.name() + ", of which "
                    + queuePairs + " connections and the server itself take up to " + (queuePairs + SPARE_REGIONS)
                    + "; allow fewer connections, or use registration arena");
        }
    }

    @Override
    ChunkArena arena(HostMemory memory, MemoryRegion region) {
        return new ChunkArena(memory, region);
    }

    @Override
    public long address(long first) {
        if (Locator.offset(first) != 0) {
            return UNKNOWN;
        }
        lock.lock();
        try {
            MemoryRegion region = regions.get(Locator.rkey(first));
            return region == null ? UNKNOWN : region.memory().address();
        } finally {
            lock.unlock();
        }
    }

    /** A line {@code CLASS <number> <length of its chunks>} for each class, in decimal digits. */
    @Override
    public String lines() {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < geometry.classes(); i++) {
            lines.append("CLASS ")
                    .append(i)
                    .append(' ')
                    .append(geometry.chunkLength(i))
                    .append("\r\n");
        }
        return lines.toString();
    }

    @Override
    public long regions() {
        lock.lock();
        try {
            return super.regions() + regions.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        regions.values().forEach(MemoryRegion::close);
        regions.clear();
        tombstones.values().forEach(HostMemory::close);
        tombstones.clear();
        super.close();
    }

    private Optional<RemotePage> register(ChunkArena arena, long offset, int chunkLength, int chunks) {
        if (!mayTake(chunks)) {
            return Optional.empty();
        }
        return registered(chunks, i -> arena.memory().asSlice(offset + (long) i * chunkLength, chunkLength))
                .map(made -> {
                    lock.lock();
                    try {
                        for (MemoryRegion region : made) {
                            regions.put(region.rkey(), region);
                        }
                    } finally {
                        lock.unlock();
                    }
                    return new Keys(made.toArray(MemoryRegion[]::new), chunkLength);
                });
    }

    /** Regions of chunks, or nothing if the device has too few. */
    private Optional<List<MemoryRegion>> registered(int chunks, IntFunction<MemorySegment> memory) {
        List<MemoryRegion> made = new ArrayList<>(chunks);
        try {
            for (int i = 0; i < chunks; i++) {
                made.add(domain().register(memory.apply(i), ACCESS));
            }
            return Optional.of(made);
        } catch (VerbsException e) {
            made.forEach(MemoryRegion::close);
            if (e.code() != VerbsErrorCode.NO_RESOURCES) {
                throw e;
            }
            exhausted(e.getMessage());
            return Optional.empty();
        }
    }

    /** False if there would be more tombstones than chunks, or no regions for the page when it comes again. */
    private boolean mayBury(int chunks) {
        lock.lock();
        try {
            return buried + chunks <= regions.size() - buried && regions.size() + chunks <= limit;
        } finally {
            lock.unlock();
        }
    }

    /** Lets the rkeys of a page name the tombstone of its class; false if there are no regions for that. */
    private boolean bury(MemoryRegion[] named, int chunkLength) {
        if (!mayBury(named.length)) {
            return false;
        }
        MemorySegment dead;
        lock.lock();
        try {
            dead = tombstones
                    .computeIfAbsent(chunkLength, length -> allocate(length))
                    .segment();
        } catch (VerbsException e) {
            LOG.warn(
                    "no memory for a dead chunk of {} bytes, so a page stays with its class: {}",
                    chunkLength,
                    e.getMessage());
            return false;
        } finally {
            lock.unlock();
        }
        Optional<List<MemoryRegion>> graves = registered(named.length, i -> dead);
        if (graves.isEmpty()) {
            return false;
        }
        for (int i = 0; i < named.length; i++) {
            named[i].swap(graves.get().get(i));
        }
        graves.get().forEach(MemoryRegion::close); // they name the page now, by rkeys that nobody was told
        lock.lock();
        try {
            buried += named.length;
        } finally {
            lock.unlock();
        }
        return true;
    }

    private boolean mayTake(int chunks) {
        lock.lock();
        try {
            if (regions.size() + chunks <= limit) {
                return true;
            }
            warn("those that are left are for queue pairs");
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Others use the device too, so there are fewer than we thought; not to be found out again for each set. */
    private void exhausted(@Nullable String reason) {
        lock.lock();
        try {
            limit = regions.size();
            warn(reason);
        } finally {
            lock.unlock();
        }
    }

    /** Once, with the lock. */
    private void warn(@Nullable String reason) {
        if (!warned) {
            warned = true;
            LOG.warn(
                    "{} chunks are registered, and the device has no regions for a further page ({}): items are evicted"
                            + " although there is memory; use larger chunks (-n), or registration arena",
                    regions.size(),
                    reason);
        }
    }

    /** One arena; as a whole peers have no right to it. */
    public final class ChunkArena extends DeviceArena {
        ChunkArena(HostMemory memory, MemoryRegion region) {
            super(memory, region);
        }

        @Override
        public Optional<RemotePage> cut(long offset, int chunkLength, int chunks) {
            return register(this, offset, chunkLength, chunks);
        }
    }

    /** The regions of the chunks of a page; which region is that of a chunk changes hands with the chunk. */
    private final class Keys implements RemotePage {
        private final MemoryRegion[] regions;
        private final int chunkLength;

        Keys(MemoryRegion[] regions, int chunkLength) {
            this.regions = regions;
            this.chunkLength = chunkLength;
        }

        @Override
        public int rkey(int chunk) {
            return regions[chunk].rkey();
        }

        @Override
        public long offset(int chunk) {
            return 0;
        }

        @Override
        public int readLength(int itemLength) {
            return chunkLength;
        }

        @Override
        public void exchange(int chunk, RemotePage other, int otherChunk) {
            MemoryRegion[] others = ((Keys) other).regions;
            MemoryRegion mine = regions[chunk];
            MemoryRegion theirs = others[otherChunk];
            mine.swap(theirs);
            regions[chunk] = theirs;
            others[otherChunk] = mine;
        }

        @Override
        public boolean mayRetire() {
            return mayBury(regions.length);
        }

        @Override
        public boolean retire() {
            return bury(regions, chunkLength);
        }
    }
}
