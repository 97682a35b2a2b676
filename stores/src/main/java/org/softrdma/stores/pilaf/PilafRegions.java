package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/** The two regions of an epoch and the table in them. Owned by the server's thread, which closes it. */
final class PilafRegions implements AutoCloseable {
    private final RegisteredMemory entries;
    private final RegisteredMemory extents;
    private final PilafHash hash;
    private final PilafTable table;

    PilafRegions(
            VerbsDevice device,
            ProtectionDomain domain,
            int logEntries,
            int logExtents,
            boolean fingerprints,
            RandomGenerator random,
            MemorySteps steps) {
        Set<AccessFlag> access = Set.of(AccessFlag.REMOTE_READ);
        hash = PilafHash.random(logEntries, random);
        entries = new RegisteredMemory(device, domain, PilafEntryDescriptor.LENGTH << logEntries, access);
        try {
            extents = new RegisteredMemory(device, domain, 1 << logExtents, access);
        } catch (RuntimeException e) {
            entries.close();
            throw e;
        }
        table = new PilafTable(hash, fingerprints, entries.segment(), extents.segment(), steps);
    }

    /** Takes all pairs of another table; says what there was no room for. */
    PilafTable.Put copy(PilafTable from) {
        MemorySegment memory = from.extents();
        for (int slot = 0; slot < from.entries(); slot++) {
            if (!from.isFree(slot)) {
                long extent = from.extent(slot);
                int keyLength = PilafExtentDescriptor.keyLength(memory, extent);
                PilafTable.Put put = table.put(
                        memory,
                        extent + PilafExtentDescriptor.KEY_OFFSET,
                        keyLength,
                        PilafExtentDescriptor.valueOffset(memory, extent),
                        PilafExtentDescriptor.valueLength(memory, extent));
                if (put != PilafTable.Put.STORED) {
                    return put;
                }
            }
        }
        return PilafTable.Put.STORED;
    }

    PilafTable table() {
        return table;
    }

    PilafHash hash() {
        return hash;
    }

    int logExtents() {
        return Long.numberOfTrailingZeros(extents.region().length());
    }

    RemoteRegion remoteEntries() {
        return entries.region().remote();
    }

    RemoteRegion remoteExtents() {
        return extents.region().remote();
    }

    @Override
    public void close() {
        extents.close();
        entries.close();
    }
}
