package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.table.RegionObjects;
import org.softrdma.farm.table.TableKey;
import org.softrdma.farm.table.TableShape;
import org.softrdma.farm.table.TableShard;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/** The regions of a server, registered once and for REMOTE_READ only, each with a shard. The server's thread. */
final class FarmShards implements AutoCloseable {
    private final TableShape shape;
    private final long registeredBytes;
    private final List<RegisteredMemory> regions = new ArrayList<>();
    private final List<RegionObjects> objects = new ArrayList<>();
    private final List<TableShard> shards = new ArrayList<>();

    /** True if the device promises that READs of memory like this move lines of 64 bytes whole; none here does. */
    static boolean movesLinesWhole(VerbsDevice device, ProtectionDomain domain) {
        try (RegisteredMemory memory =
                new RegisteredMemory(device, domain, ObjectLines.LINE, Set.of(AccessFlag.REMOTE_READ))) {
            return memory.region().coherentUnit() >= ObjectLines.LINE;
        }
    }

    FarmShards(VerbsDevice device, ProtectionDomain domain, FarmSettings settings, boolean mended, MemorySteps steps) {
        shape = settings.shape();
        registeredBytes = settings.regionLength() * shape.shards();
        try {
            for (int region = 0; region < shape.shards(); region++) {
                RegisteredMemory memory =
                        new RegisteredMemory(device, domain, settings.regionLength(), Set.of(AccessFlag.REMOTE_READ));
                regions.add(memory);
                RegionObjects made = new RegionObjects(memory.segment(), settings.blockLength(), shape, region, steps);
                objects.add(made);
                shards.add(TableShard.inRegion(made, shape, mended));
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    List<RemoteRegion> remote() {
        return regions.stream().map(memory -> memory.region().remote()).toList();
    }

    private TableShard of(TableKey key) {
        return shards.get(shape.shard(key.hash()));
    }

    Outcome put(TableKey key, MemorySegment value, long offset, int length) {
        return of(key).put(key, value, offset, length);
    }

    Outcome remove(TableKey key) {
        return of(key).remove(key);
    }

    boolean contains(TableKey key) {
        return of(key).contains(key);
    }

    SpaceUse space() {
        long pairs = 0;
        long data = 0;
        long used = 0;
        for (TableShard shard : shards) {
            pairs += shard.pairs();
            data += shard.dataBytes();
        }
        for (RegionObjects region : objects) {
            used += region.used();
        }
        return new SpaceUse(pairs, data, used, registeredBytes);
    }

    @Override
    public void close() {
        regions.forEach(RegisteredMemory::close);
        regions.clear();
    }
}
