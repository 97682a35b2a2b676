package org.softrdma.stores.pilaf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.hash.ChecksumPair;

/**
 * Writes entries that peers READ meanwhile: composes one aside, with the next version and its checksum, then stores its
 * words one by one. Owned by the server's thread. Allocates nothing after construction.
 */
final class PilafEntryWriter {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment entries;
    private final MemorySteps steps;
    private final MemorySegment draft = Arena.ofAuto().allocate(PilafEntryDescriptor.LENGTH, Long.BYTES);
    private final ByteBuffer draftView = draft.asByteBuffer();
    private final ChecksumPair checksum = new ChecksumPair();

    PilafEntryWriter(MemorySegment entries, MemorySteps steps) {
        this.entries = entries;
        this.steps = steps;
    }

    /** The entry names an extent. */
    void write(int entry, int fingerprint, int extentLength, long extent, long extentChecksum) {
        store(
                entry,
                PilafEntryDescriptor.header(true, nextVersion(entry), fingerprint, extentLength),
                extent,
                extentChecksum);
    }

    /** The entry names nothing. */
    void clear(int entry) {
        store(entry, PilafEntryDescriptor.header(false, nextVersion(entry), 0, 0), 0, 0);
    }

    /** An entry names the same as another. */
    void copy(int from, int to) {
        long header = PilafEntryDescriptor.header(entries, from);
        write(
                to,
                PilafEntryDescriptor.fingerprint(header),
                PilafEntryDescriptor.extentLength(header),
                PilafEntryDescriptor.extentOffset(entries, from),
                PilafEntryDescriptor.extentChecksum(entries, from));
    }

    private int nextVersion(int entry) {
        return PilafEntryDescriptor.version(PilafEntryDescriptor.header(entries, entry)) + 1;
    }

    private void store(int entry, long header, long extent, long extentChecksum) {
        PilafEntryDescriptor.put(draft, draftView, 0, header, extent, extentChecksum, checksum);
        for (int at = 0; at < PilafEntryDescriptor.LENGTH; at += Long.BYTES) {
            steps.write(entries, entry + at, draft.get(WORD, at));
            steps.step(PilafStep.WORD_WRITTEN);
        }
        steps.fence(); // the entry before whatever follows it: the next move, the old extent's new life
        steps.step(PilafStep.ENTRY_WRITTEN);
    }
}
