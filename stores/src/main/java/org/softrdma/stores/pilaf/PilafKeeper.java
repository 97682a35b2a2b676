package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Keeps the pairs: makes changes, logs them, and moves all pairs to larger regions when these are full. Owned by the
 * server's thread, which closes it when no connection is left.
 */
final class PilafKeeper implements AutoCloseable {
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final StoreServerContext context;
    private final PilafServerSettings settings;
    private final Runnable beforeReset;
    private final @Nullable PilafLog log;
    private PilafRegions regions;
    private int epoch = 1;

    /** What became of a change. */
    enum Change {
        /** Made. */
        DONE,
        /** There was no such key. */
        MISSING,
        /** No memory, and no more may be had. */
        FULL,
        /** The regions are new, the connections are gone, and the change is not made. */
        RESET
    }

    /**
     * Opens the regions, and replays the log.
     *
     * @param beforeReset ends all connections: called before regions are closed that peers know
     */
    PilafKeeper(
            VerbsDevice device,
            ProtectionDomain domain,
            StoreServerContext context,
            PilafServerSettings settings,
            Runnable beforeReset) {
        this.device = device;
        this.domain = domain;
        this.context = context;
        this.settings = settings;
        this.beforeReset = beforeReset;
        regions = open(settings.logEntries(), settings.logExtents());
        try {
            log = settings.sync() == PilafLog.Sync.OFF
                    ? null
                    : new PilafLog(
                            settings.directory(), settings.sync(), context.maxKeyLength() + context.maxValueLength());
            if (log != null) {
                log.replay(this::replay);
            }
        } catch (RuntimeException e) {
            regions.close();
            throw e;
        }
    }

    private PilafRegions open(int logEntries, int logExtents) {
        return new PilafRegions(
                device, domain, logEntries, logExtents, settings.fingerprints(), context.random(), context.steps());
    }

    private void replay(byte operation, MemorySegment memory, long key, int keyLength, long value, int valueLength) {
        if (operation == PilafRequestDescriptor.REMOVE) {
            boolean ignored = regions.table().remove(memory, key, keyLength);
            return;
        }
        PilafTable.Put put = regions.table().put(memory, key, keyLength, value, valueLength);
        while (put != PilafTable.Put.STORED) {
            if (!grow(put)) {
                throw new IllegalStateException("the log holds more than there may be memory for: " + put);
            }
            put = regions.table().put(memory, key, keyLength, value, valueLength);
        }
    }

    // ---- what is there

    PilafTable table() {
        return regions.table();
    }

    /** Bytes of its registered memory. */
    long registeredBytes() {
        return regions.remoteEntries().length() + regions.remoteExtents().length();
    }

    PilafRoots roots(long boot, int session) {
        return new PilafRoots(
                regions.hash(),
                settings.fingerprints(),
                context.window(),
                context.maxKeyLength(),
                context.maxValueLength(),
                session,
                boot,
                epoch,
                regions.remoteEntries(),
                regions.remoteExtents());
    }

    // ---- changes

    /** Stores a pair of a request. */
    Change put(MemorySegment source, long key, int keyLength, long value, int valueLength) {
        PilafTable.Put put = regions.table().put(source, key, keyLength, value, valueLength);
        if (put != PilafTable.Put.STORED) {
            return grow(put) ? Change.RESET : Change.FULL;
        }
        log(PilafRequestDescriptor.PUT, source, key, keyLength, value, valueLength);
        return Change.DONE;
    }

    /** Removes a pair. */
    Change remove(MemorySegment source, long key, int keyLength) {
        if (!regions.table().remove(source, key, keyLength)) {
            return Change.MISSING;
        }
        log(PilafRequestDescriptor.REMOVE, source, key, keyLength, key, 0);
        return Change.DONE;
    }

    private void log(byte operation, MemorySegment source, long key, int keyLength, long value, int valueLength) {
        if (log != null) {
            log.append(
                    operation,
                    source,
                    key,
                    keyLength,
                    value,
                    valueLength,
                    context.nanoClock().nanoTime());
        }
    }

    /** Changes that were made are as safe as they have to be before they are answered. */
    void commit() {
        if (log != null) {
            log.commit(context.nanoClock().nanoTime());
        }
    }

    /** As if the process were killed: changes that are not on the disk are lost. */
    void abandonLog() {
        if (log != null) {
            log.abandon();
        }
    }

    // ---- growth

    /**
     * Moves all pairs to regions twice as large, of that which was too small. Clients read the old ones until then, and
     * know that these are gone by the end of their connections (paper, section 3.3).
     */
    private boolean grow(PilafTable.Put reason) {
        int logEntries = regions.hash().logEntries();
        int logExtents = regions.logExtents();
        PilafTable.Put lack = reason;
        while (true) {
            if (lack == PilafTable.Put.NO_ENTRY) {
                logEntries++;
            } else {
                logExtents++;
            }
            if (logEntries > settings.mostLogEntries() || logExtents > settings.mostLogExtents()) {
                return false;
            }
            PilafRegions larger;
            try {
                larger = open(logEntries, logExtents);
            } catch (VerbsException e) {
                return false; // the machine has no more
            }
            try {
                lack = larger.copy(regions.table());
            } catch (RuntimeException e) {
                larger.close();
                throw e;
            }
            if (lack == PilafTable.Put.STORED) {
                beforeReset.run();
                regions.close();
                regions = larger;
                epoch++;
                return true;
            }
            larger.close();
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(log, regions);
    }
}
