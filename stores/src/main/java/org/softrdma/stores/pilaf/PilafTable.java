package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.cuckoo.CuckooPath;
import org.softrdma.stores.cuckoo.CuckooSlots;
import org.softrdma.stores.hash.ChecksumPair;

/**
 * The server's table: pairs in extents, found by entries, which clients READ while they change. Three-way cuckoo
 * hashing (paper, section 3.4).
 *
 * <p>What makes a READ at any moment harmless: an extent is whole before an entry names it; an entry has a checksum of
 * itself and one of its extent, so whoever sees half of either knows; and a resident that has to make room is written
 * to its new entry before its old one is written over, beginning at the end of the path, so it is in one entry or in
 * two. Old extents are free at once: a client that follows an old entry finds another checksum.
 *
 * <p>Owned by the server's thread. Allocates nothing after construction.
 */
final class PilafTable implements CuckooSlots {
    /** Slots that a search looks at before the table counts as too full. */
    static final int SEARCH_LIMIT = 500;

    /** Nothing is there. */
    static final int NONE = -1;

    private final PilafHash hash;
    private final boolean fingerprints;
    private final MemorySegment entries;
    private final MemorySegment extents;
    private final ByteBuffer extentsView;
    private final PilafEntryWriter writer;
    private final MemorySteps steps;
    private final BuddyExtents space;
    private final CuckooPath path = new CuckooPath(PilafHash.WAYS, SEARCH_LIMIT);
    private final int[] candidates = new int[PilafHash.WAYS];
    private final ChecksumPair checksum = new ChecksumPair();
    private long pairs;
    private long dataBytes;

    /** What became of a PUT. */
    enum Put {
        STORED,
        /** No path to a free entry. */
        NO_ENTRY,
        /** No extent is large enough. */
        NO_EXTENT
    }

    /**
     * An empty table.
     *
     * @param hash where keys are
     * @param fingerprints whether entries carry them
     * @param entries memory of the entries
     * @param extents memory of the extents, a power of two
     * @param steps how memory is written
     */
    PilafTable(PilafHash hash, boolean fingerprints, MemorySegment entries, MemorySegment extents, MemorySteps steps) {
        this.hash = hash;
        this.fingerprints = fingerprints;
        this.entries = entries;
        this.extents = extents;
        extentsView = extents.asByteBuffer();
        this.steps = steps;
        writer = new PilafEntryWriter(entries, steps);
        space = new BuddyExtents(extents.byteSize());
        ByteBuffer entriesView = entries.asByteBuffer();
        for (int slot = 0; slot < hash.entries(); slot++) {
            PilafEntryDescriptor.put(entries, entriesView, at(slot), 0, 0, 0, checksum);
        }
    }

    // ---- what is there

    /** The entry of a key, or {@link #NONE}. */
    int find(MemorySegment keys, long key, int keyLength) {
        long keyHash = hash.of(keys, key, keyLength);
        for (int rank = 0; rank < PilafHash.WAYS; rank++) {
            int slot = hash.candidate(keyHash, rank);
            if (!isFree(slot) && PilafExtentDescriptor.isOf(extents, extent(slot), keys, key, keyLength)) {
                return slot;
            }
        }
        return NONE;
    }

    /** Where the extent of an entry in use begins. */
    long extent(int slot) {
        return PilafEntryDescriptor.extentOffset(entries, at(slot));
    }

    /** Memory of the entries. */
    MemorySegment memory() {
        return entries;
    }

    MemorySegment extents() {
        return extents;
    }

    @Override
    public boolean isFree(int slot) {
        return !PilafEntryDescriptor.isInUse(PilafEntryDescriptor.header(entries, at(slot)));
    }

    @Override
    public int candidate(int slot, int rank) {
        long extent = extent(slot);
        int keyLength = PilafExtentDescriptor.keyLength(extents, extent);
        return hash.candidate(hash.of(extents, extent + PilafExtentDescriptor.KEY_OFFSET, keyLength), rank);
    }

    int entries() {
        return hash.entries();
    }

    long pairs() {
        return pairs;
    }

    long dataBytes() {
        return dataBytes;
    }

    long usedBytes() {
        return space.usedBytes() + pairs * PilafEntryDescriptor.LENGTH;
    }

    // ---- changes

    /** Stores a pair. Nothing has changed unless it says STORED. */
    Put put(MemorySegment source, long key, int keyLength, long value, int valueLength) {
        int slot = find(source, key, keyLength);
        long keyHash = hash.of(source, key, keyLength);
        if (slot == NONE) {
            for (int rank = 0; rank < PilafHash.WAYS; rank++) {
                candidates[rank] = hash.candidate(keyHash, rank);
            }
            if (!path.find(this, candidates)) {
                return Put.NO_ENTRY;
            }
        }
        int length = PilafExtentDescriptor.length(keyLength, valueLength);
        long extent = space.allocate(length);
        if (extent < 0) {
            return Put.NO_EXTENT;
        }
        fill(extent, length, source, key, keyLength, value, valueLength);
        long extentChecksum = checksum.of(extentsView, (int) extent, length);
        int fingerprint = fingerprints ? PilafHash.fingerprint(keyHash) : 0;
        steps.fence(); // the extent before the entry that names it
        if (slot == NONE) {
            makeRoom();
            writer.write(at(path.slot(0)), fingerprint, length, extent, extentChecksum);
            pairs++;
        } else {
            long old = extent(slot);
            dataBytes -= dataBytes(old);
            writer.write(at(slot), fingerprint, length, extent, extentChecksum);
            free(old);
        }
        dataBytes += keyLength + (long) valueLength;
        return Put.STORED;
    }

    /** Removes a pair; false if it is not there. */
    boolean remove(MemorySegment keys, long key, int keyLength) {
        int slot = find(keys, key, keyLength);
        if (slot == NONE) {
            return false;
        }
        long old = extent(slot);
        dataBytes -= dataBytes(old);
        writer.clear(at(slot));
        free(old);
        pairs--;
        return true;
    }

    /** Moves the residents of the path, the last one first, so that none is ever nowhere. */
    private void makeRoom() {
        for (int step = path.length() - 1; step > 0; step--) {
            writer.copy(at(path.slot(step - 1)), at(path.slot(step)));
            steps.step(PilafStep.MOVED);
        }
    }

    private void fill(
            long extent, int length, MemorySegment source, long key, int keyLength, long value, int valueLength) {
        steps.write(extents, extent, PilafExtentDescriptor.header(keyLength, valueLength));
        // The padding first: the last word may hold bytes of the value too.
        if (length > PilafExtentDescriptor.KEY_OFFSET) {
            steps.write(extents, extent + length - Long.BYTES, 0);
        }
        steps.copy(source, key, extents, extent + PilafExtentDescriptor.KEY_OFFSET, keyLength);
        steps.copy(source, value, extents, extent + PilafExtentDescriptor.KEY_OFFSET + keyLength, valueLength);
        steps.step(PilafStep.EXTENT_WRITTEN);
    }

    private long dataBytes(long extent) {
        return PilafExtentDescriptor.keyLength(extents, extent)
                + (long) PilafExtentDescriptor.valueLength(extents, extent);
    }

    private void free(long extent) {
        space.free(extent);
        steps.step(PilafStep.FREED);
    }

    private static int at(int slot) {
        return slot * PilafEntryDescriptor.LENGTH;
    }
}
