package org.softrdma.stores.herd.mica;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.herd.part.HerdPart;

/**
 * The pairs of a worker: an index of buckets with eight entries each, and a log. A pair is found by the lower bits of its
 * key's hash, which choose the bucket, then by a tag of other bits, then by the key itself.
 *
 * <p>It loses pairs, and only so: a pair that is appended takes the place of the oldest in the log, and a key that is new
 * to a bucket without a free entry takes the entry of the oldest pair there. What was lost never comes back.
 *
 * <p>Two mistakes of the published code are not repeated. Its search for an entry ends nowhere, so that a free entry
 * behind the key's own wins, and the key is there twice; here the whole bucket is searched for the key before anything
 * is taken. Its test for a wrapped log holds for the first wrap only; here an entry counts as long as its pair is younger
 * than the log is long.
 *
 * <p>Allocates nothing after construction. Owned by the worker's thread.
 */
public final class MicaTable implements HerdPart, MicaPairs {
    /** Entries of a bucket. */
    public static final int WAYS = 8;

    /** Most bits of a bucket's number: those of the hash below the tag. */
    public static final int MOST_LOG_BUCKETS = 24;

    /** Bytes after which entries of lost pairs are forgotten: well before their lower bits come again. */
    private static final long SWEEP = 1L << MicaSlotDescriptor.OFFSET_BITS;

    private final long[] entries;
    private final long bucketMask;
    private final MicaLog log;
    private final MicaWatcher watcher;
    private final long sweep;
    private long nextSweep;

    /**
     * An empty table.
     *
     * @param logBuckets log2 of the number of buckets
     * @param capacity bytes of the log, a power of two
     * @param watcher is told what becomes of pairs
     */
    public MicaTable(int logBuckets, int capacity, MicaWatcher watcher) {
        this(logBuckets, new MicaLog(capacity, 0), SWEEP, watcher);
    }

    MicaTable(int logBuckets, MicaLog log, long sweep, MicaWatcher watcher) {
        if (logBuckets < 0 || logBuckets > MOST_LOG_BUCKETS) {
            throw new IllegalArgumentException("logBuckets=" + logBuckets + ": expected 0 to " + MOST_LOG_BUCKETS);
        }
        entries = new long[WAYS << logBuckets];
        bucketMask = (1L << logBuckets) - 1;
        this.log = log;
        this.watcher = watcher;
        this.sweep = sweep;
        nextSweep = log.head() + sweep;
    }

    /** Bytes that a pair takes in the log. */
    public static int length(int keyLength, int valueLength) {
        return MicaPairDescriptor.length(keyLength, valueLength);
    }

    // ---- looking

    @Override
    public long find(MemorySegment memory, long key, int keyLength, long hash) {
        int entry = entry(memory, key, keyLength, hash);
        return entry < 0 ? NONE : position(entries[entry]);
    }

    @Override
    public boolean isLarge() {
        return Math.min(log.head(), log.capacity()) > LARGE;
    }

    /** A bucket is as long as a cache line, and lies in two. */
    @Override
    public long touchIndex(long hash) {
        int first = bucket(hash);
        return entries[first] + entries[first + WAYS - 1];
    }

    @Override
    public long touchPairs(long hash) {
        long tag = MicaSlotDescriptor.tag(hash);
        int first = bucket(hash);
        long sum = 0;
        for (int i = first; i < first + WAYS; i++) {
            if (MicaSlotDescriptor.hasTag(entries[i], tag) && isLive(entries[i])) {
                sum += keyLength(position(entries[i]));
            }
        }
        return sum;
    }

    /** True if a pair is still in the log. */
    public boolean holds(long position) {
        return log.holds(position);
    }

    @Override
    public MemorySegment memory() {
        return log.memory();
    }

    @Override
    public long keyAt(long position) {
        return log.place(position) + MicaPairDescriptor.KEY_OFFSET;
    }

    @Override
    public int keyLength(long position) {
        return MicaPairDescriptor.keyLength(memory(), log.place(position));
    }

    @Override
    public long valueAt(long position) {
        return MicaPairDescriptor.valueOffset(memory(), log.place(position));
    }

    @Override
    public int valueLength(long position) {
        return MicaPairDescriptor.valueLength(memory(), log.place(position));
    }

    /** The entry of a key, or -1. */
    private int entry(MemorySegment memory, long key, int keyLength, long hash) {
        long tag = MicaSlotDescriptor.tag(hash);
        int first = bucket(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (isOf(entries[i], tag, memory, key, keyLength)) {
                return i;
            }
        }
        return -1;
    }

    private boolean isOf(long entry, long tag, MemorySegment memory, long key, int keyLength) {
        return isLive(entry)
                && MicaSlotDescriptor.hasTag(entry, tag)
                && MicaPairDescriptor.isOf(memory(), log.place(position(entry)), memory, key, keyLength);
    }

    private int bucket(long hash) {
        return (int) (hash & bucketMask) * WAYS;
    }

    private boolean isLive(long entry) {
        return MicaSlotDescriptor.isUsed(entry) && log.holds(position(entry));
    }

    private long position(long entry) {
        return log.position(MicaSlotDescriptor.units(entry));
    }

    // ---- changing

    /** A pair of the same length is written where it was, and keeps its age. There is always room. */
    @Override
    public boolean put(MemorySegment memory, long key, int keyLength, long hash, long value, int valueLength) {
        int entry = entry(memory, key, keyLength, hash);
        int length = length(keyLength, valueLength);
        if (entry >= 0 && length == lengthOf(entries[entry])) {
            write(position(entries[entry]), memory, key, keyLength, value, valueLength);
            return true;
        }
        int target = entry >= 0 ? entry : room(hash);
        long position = log.append(length);
        write(position, memory, key, keyLength, value, valueLength);
        entries[target] = MicaSlotDescriptor.of(hash, position >>> 3);
        watcher.appended(this, position);
        if (log.head() >= nextSweep) {
            sweep();
        }
        return true;
    }

    private int lengthOf(long entry) {
        long position = position(entry);
        return length(keyLength(position), valueLength(position));
    }

    private void write(long position, MemorySegment memory, long key, int keyLength, long value, int valueLength) {
        long pair = log.place(position);
        MicaPairDescriptor.putLengths(memory(), pair, keyLength, valueLength);
        MemorySegment.copy(memory, key, memory(), pair + MicaPairDescriptor.KEY_OFFSET, keyLength);
        MemorySegment.copy(memory, value, memory(), MicaPairDescriptor.valueOffset(memory(), pair), valueLength);
    }

    /** An entry for a new key: one that leads nowhere, or else that of the oldest pair, which is lost. */
    private int room(long hash) {
        int first = bucket(hash);
        int oldest = first;
        for (int i = first; i < first + WAYS; i++) {
            if (!isLive(entries[i])) {
                return i;
            }
            if (position(entries[i]) < position(entries[oldest])) {
                oldest = i;
            }
        }
        watcher.evicted(this, position(entries[oldest]));
        return oldest;
    }

    @Override
    public boolean remove(MemorySegment memory, long key, int keyLength, long hash) {
        int entry = entry(memory, key, keyLength, hash);
        if (entry < 0) {
            return false;
        }
        watcher.removed(this, position(entries[entry]));
        entries[entry] = MicaSlotDescriptor.FREE;
        return true;
    }

    private void sweep() {
        for (int i = 0; i < entries.length; i++) {
            if (!isLive(entries[i])) {
                entries[i] = MicaSlotDescriptor.FREE;
            }
        }
        nextSweep = log.head() + sweep;
    }

    /** Entries that lead somewhere, or did. */
    int usedEntries() {
        int used = 0;
        for (long entry : entries) {
            used += MicaSlotDescriptor.isUsed(entry) ? 1 : 0;
        }
        return used;
    }

    // ---- how much there is

    @Override
    public long pairs() {
        long pairs = 0;
        for (long entry : entries) {
            pairs += isLive(entry) ? 1 : 0;
        }
        return pairs;
    }

    @Override
    public long dataBytes() {
        long bytes = 0;
        for (long entry : entries) {
            if (isLive(entry)) {
                long position = position(entry);
                bytes += keyLength(position) + (long) valueLength(position);
            }
        }
        return bytes;
    }

    @Override
    public long usedBytes() {
        long bytes = 0;
        for (long entry : entries) {
            if (isLive(entry)) {
                bytes += lengthOf(entry) + (long) Long.BYTES;
            }
        }
        return bytes;
    }

    @Override
    public long allBytes() {
        return log.capacity() + (long) entries.length * Long.BYTES;
    }
}
