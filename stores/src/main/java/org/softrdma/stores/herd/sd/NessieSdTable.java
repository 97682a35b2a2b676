package org.softrdma.stores.herd.sd;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.cuckoo.CuckooPath;
import org.softrdma.stores.cuckoo.CuckooSlots;
import org.softrdma.stores.hash.SeededHash;
import org.softrdma.stores.herd.part.HerdPart;

/**
 * The pairs of a worker: an index table, whose words name entries of a data table. A key has {@code ways} words, by
 * hashes of its hash; a word that is in use makes room by moving what it names to another word of the same pair.
 *
 * <p>It loses nothing. A PUT for which there is no entry, or no way to a free word, changes nothing. Nobody else reads
 * this memory, so a pair that is there is written over where it is. Allocates nothing after construction. Owned by the
 * worker's thread.
 */
public final class NessieSdTable implements HerdPart, CuckooSlots {
    /** Most bits of an index or of a data table. */
    public static final int MOST_LOG = 26;

    private static final int SEARCH_LIMIT = 500;
    private static final int FREE = -1;

    private final int[] index;
    private final int ways;
    private final int entryLength;
    private final MemorySegment data;
    private final int[] freeEntries;
    private final CuckooPath path;
    private final int[] candidates;
    private int freeCount;
    private long pairs;
    private long dataBytes;

    /**
     * An empty table.
     *
     * @param logIndex log2 of the words of the index
     * @param logEntries log2 of the entries
     * @param ways words of a key
     * @param maxKeyLength bytes of the longest key
     * @param maxValueLength bytes of the longest value
     * @throws StoreException if there is not that much memory
     */
    public NessieSdTable(int logIndex, int logEntries, int ways, int maxKeyLength, int maxValueLength) {
        if (logIndex < 0 || logIndex > MOST_LOG || logEntries < 0 || logEntries > MOST_LOG) {
            throw new IllegalArgumentException(
                    "logIndex=" + logIndex + ", logEntries=" + logEntries + ": expected 0 to " + MOST_LOG);
        }
        index = new int[1 << logIndex];
        Arrays.fill(index, FREE);
        this.ways = ways;
        path = new CuckooPath(ways, SEARCH_LIMIT);
        candidates = new int[ways];
        entryLength = NessieSdEntryDescriptor.length(maxKeyLength, maxValueLength);
        freeCount = 1 << logEntries;
        data = allocate((long) freeCount * entryLength);
        freeEntries = new int[freeCount];
        Arrays.setAll(freeEntries, i -> freeCount - 1 - i); // the first one is taken first
    }

    private static MemorySegment allocate(long length) {
        try {
            return Arena.ofAuto().allocate(length, Long.BYTES);
        } catch (OutOfMemoryError e) {
            throw new StoreException("a data table of " + length + " bytes: " + e.getMessage() + "; lower entries", e);
        }
    }

    // ---- looking

    @Override
    public long find(MemorySegment memory, long key, int keyLength, long hash) {
        int word = word(memory, key, keyLength, hash);
        return word == FREE ? NONE : at(index[word]);
    }

    /** The word that names the pair of a key, or {@link #FREE}. */
    private int word(MemorySegment memory, long key, int keyLength, long hash) {
        for (int rank = 0; rank < ways; rank++) {
            int word = wordOf(hash, rank);
            if (!isFree(word) && NessieSdEntryDescriptor.isOf(data, at(index[word]), memory, key, keyLength, hash)) {
                return word;
            }
        }
        return FREE;
    }

    @Override
    public boolean isLarge() {
        return usedBytes() > LARGE;
    }

    @Override
    public long touchIndex(long hash) {
        long sum = 0;
        for (int rank = 0; rank < ways; rank++) {
            sum += index[wordOf(hash, rank)];
        }
        return sum;
    }

    @Override
    public long touchPairs(long hash) {
        long sum = 0;
        for (int rank = 0; rank < ways; rank++) {
            int word = wordOf(hash, rank);
            if (!isFree(word)) {
                sum += NessieSdEntryDescriptor.hash(data, at(index[word]));
            }
        }
        return sum;
    }

    private int wordOf(long hash, int rank) {
        return (int) SeededHash.again(hash, rank + 1L) & index.length - 1;
    }

    private long at(int entry) {
        return (long) entry * entryLength;
    }

    @Override
    public boolean isFree(int slot) {
        return index[slot] == FREE;
    }

    @Override
    public int candidate(int slot, int rank) {
        return wordOf(NessieSdEntryDescriptor.hash(data, at(index[slot])), rank);
    }

    @Override
    public MemorySegment memory() {
        return data;
    }

    @Override
    public long valueAt(long position) {
        return NessieSdEntryDescriptor.valueOffset(data, position);
    }

    @Override
    public int valueLength(long position) {
        return NessieSdEntryDescriptor.valueLength(data, position);
    }

    // ---- changing

    @Override
    public boolean put(MemorySegment memory, long key, int keyLength, long hash, long value, int valueLength) {
        int word = word(memory, key, keyLength, hash);
        if (word == FREE) {
            word = newWord(hash);
            if (word == FREE) {
                return false;
            }
            index[word] = freeEntries[--freeCount];
            pairs++;
        } else {
            dataBytes -= keyLength + (long) valueLength(at(index[word]));
        }
        long entry = at(index[word]);
        NessieSdEntryDescriptor.putHeader(data, entry, hash, keyLength, valueLength);
        MemorySegment.copy(memory, key, data, entry + NessieSdEntryDescriptor.KEY_OFFSET, keyLength);
        MemorySegment.copy(memory, value, data, NessieSdEntryDescriptor.valueOffset(data, entry), valueLength);
        dataBytes += keyLength + (long) valueLength;
        return true;
    }

    /** A word for a new key, for which there is an entry too; {@link #FREE} if there is no room. */
    private int newWord(long hash) {
        if (freeCount == 0) {
            return FREE;
        }
        for (int rank = 0; rank < ways; rank++) {
            candidates[rank] = wordOf(hash, rank);
        }
        if (!path.find(this, candidates)) {
            return FREE;
        }
        for (int step = path.length() - 1; step > 0; step--) {
            index[path.slot(step)] = index[path.slot(step - 1)];
        }
        return path.slot(0);
    }

    @Override
    public boolean remove(MemorySegment memory, long key, int keyLength, long hash) {
        int word = word(memory, key, keyLength, hash);
        if (word == FREE) {
            return false;
        }
        dataBytes -= keyLength + (long) valueLength(at(index[word]));
        pairs--;
        freeEntries[freeCount++] = index[word];
        index[word] = FREE;
        return true;
    }

    // ---- how much there is

    @Override
    public long pairs() {
        return pairs;
    }

    @Override
    public long dataBytes() {
        return dataBytes;
    }

    @Override
    public long usedBytes() {
        return pairs * (entryLength + (long) Integer.BYTES);
    }

    @Override
    public long allBytes() {
        return data.byteSize() + (long) index.length * Integer.BYTES;
    }
}
