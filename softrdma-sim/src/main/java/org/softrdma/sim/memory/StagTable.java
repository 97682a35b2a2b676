package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.MemorySource;

/**
 * All registered memory of a device, by steering tag: a flat table with O(1) look-up, made for millions of rows.
 *
 * <p>A steering tag (STag, RFC 5041 section 3) becomes an lkey or an rkey here and nowhere else. A key encodes 24 bits
 * of row number and 8 bits that change with every use of the row, scrambled by a bijection with secret constants. Each
 * device draws the constants, one set for lkeys and another for rkeys. So keys look random and need no hashing, and a
 * guess hits with a probability of (live rows) / 2^32. No live lkey is a live rkey. Rows are reused in the order in
 * which they became free, and each reuse changes the key, so an old key becomes valid again only after at least 256
 * times as many registrations as rows are kept free; in a simulation that wants it otherwise, at once.
 *
 * <pre>
 *   row: 64 bytes (one cache line), native byte order. Written under the lock; engines only read.
 *   +--------------------------------+--------------------------------+
 *   |  rkey, 0 = row is free         |  lkey, 0 = row is free         |   0   written last, by release
 *   +--------------------------------+--------------------------------+
 *   |  rights; LAZY, POLLED          |  protection domain             |   8
 *   +--------------------------------+--------------------------------+
 *   |  first address as peers and entries name it (0 if ZERO_BASED)    |  16
 *   +-----------------------------------------------------------------+
 *   |  length in bytes                                                 |  24
 *   +-----------------------------------------------------------------+
 *   |  raw address of the memory now; changed by swap                   |  32   one aligned store
 *   +-----------------------------------------------------------------+
 * </pre>
 *
 * <p>Look a key up once for each access and keep the row. Another thread may deregister at any moment, so a second
 * look-up in the same batch may fail, or find other memory. A row's fields stay valid to the end of the batch in which
 * its key was found, even if it is deregistered.
 *
 * <p>Threads: {@link #findRemote}, {@link #findLocal}, {@link #check}, {@link #rawAddress}, {@link #offset},
 * {@link #binding} and {@link #bindingOf} are called by engines inside a batch ({@link Quiescence}) and take no lock.
 * {@link #rkey} and {@link #lkey} are called by the thread that added the row. Any thread may call the rest, which take
 * the table's lock; {@link #close} only when no engine runs.
 */
public final class StagTable implements AutoCloseable {
    /** Maximum number of rows: 24 bits of row number. */
    public static final int MAX_ROWS = 1 << 24;

    /** A chunk of rows is one huge page: a look-up among a million keys misses the caches, but not the TLB. */
    private static final int CHUNK_SHIFT = 15;

    private static final int CHUNK_ROWS = 1 << CHUNK_SHIFT;
    private static final int ROW_BYTES = 64;
    private static final int RKEY_OFFSET = 0;
    private static final int LKEY_OFFSET = RKEY_OFFSET + Integer.BYTES;
    private static final int RIGHTS_OFFSET = LKEY_OFFSET + Integer.BYTES;
    private static final int DOMAIN_OFFSET = RIGHTS_OFFSET + Integer.BYTES;
    private static final int BASE_OFFSET = DOMAIN_OFFSET + Integer.BYTES;
    private static final int LENGTH_OFFSET = BASE_OFFSET + Long.BYTES;
    private static final int ADDRESS_OFFSET = LENGTH_OFFSET + Long.BYTES;
    /** No row is reused until this many are free, so that old keys do not become valid again soon. */
    private static final int MIN_FREE_ROWS = 1024;

    private static final VarHandle CHUNK = MethodHandles.arrayElementVarHandle(long[].class);

    private final ReentrantLock lock = new ReentrantLock();
    private final MemoryOperations memory;
    private final List<PageMemory> pages = new ArrayList<>();
    private final int maxRows;
    private final NumberReuse reuse;
    private final Scrambler rkeys;
    private final Scrambler lkeys;
    private final long[] chunks;
    private final Binding[][] bindings;
    private final byte[][] keyBytes;
    private final ArrayDeque<Integer> freeRows = new ArrayDeque<>();
    private int rows;
    private int live;

    /**
     * An empty table.
     *
     * @param maxRows maximum number of live rows, at most {@link #MAX_ROWS}
     * @param random source of the secrets
     * @param memory of the device
     * @param reuse when a row and its keys are used again
     */
    public StagTable(int maxRows, RandomGenerator random, MemoryOperations memory, NumberReuse reuse) {
        if (maxRows < 1 || maxRows > MAX_ROWS) {
            throw new IllegalArgumentException("maxRows=" + maxRows + ": expected 1 to " + MAX_ROWS);
        }
        this.maxRows = maxRows;
        this.memory = memory;
        this.reuse = reuse;
        rkeys = new Scrambler(random);
        lkeys = new Scrambler(random);
        int chunkCount = MAX_ROWS >>> CHUNK_SHIFT;
        chunks = new long[chunkCount];
        bindings = new Binding[chunkCount][];
        keyBytes = new byte[chunkCount][];
    }

    /**
     * Adds a row.
     *
     * @param segment the memory; it stays reachable until {@link #free}
     * @param base first address as peers and scatter/gather entries name it
     * @param rights {@link AccessRights}
     * @param domain protection domain
     * @return the row, or -1 if the table is full
     */
    public int add(MemorySegment segment, long base, int rights, int domain) {
        lock.lock();
        try {
            Binding binding = new Binding(segment, rights);
            int row = takeRow();
            if (row < 0) {
                return row;
            }
            long at = rowAddress(row);
            NativeMemory.putNativeLong(at + ADDRESS_OFFSET, segment.address());
            NativeMemory.putNativeLong(at + LENGTH_OFFSET, segment.byteSize());
            NativeMemory.putNativeLong(at + BASE_OFFSET, base);
            putInt(at + RIGHTS_OFFSET, rights);
            putInt(at + DOMAIN_OFFSET, domain);
            bindings[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)] = binding;
            chooseKeys(row, at);
            live++;
            return row;
        } finally {
            lock.unlock();
        }
    }

    /** The rkey of a live row. */
    public int rkey(int row) {
        return getInt(rowAddress(row) + RKEY_OFFSET);
    }

    /** The lkey of a live row. */
    public int lkey(int row) {
        return getInt(rowAddress(row) + LKEY_OFFSET);
    }

    /**
     * Invalidates a row's keys: engines refuse them from the next batch on. The row is not reused before {@link #free}.
     */
    public void invalidate(int row) {
        lock.lock();
        try {
            long at = rowAddress(row);
            putInt(at + RKEY_OFFSET, 0);
            putInt(at + LKEY_OFFSET, 0);
            binding(row).kill();
            live--;
        } finally {
            lock.unlock();
        }
    }

    /** Makes an invalidated row reusable. Only after {@link Quiescence#await}. */
    public void free(int row) {
        lock.lock();
        try {
            binding(row).letGo();
            bindings[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)] = null;
            freeRows.addLast(row);
        } finally {
            lock.unlock();
        }
    }

    /** Exchanges the memory that two live rows name. Each row changes by one aligned store. */
    public void swap(int row, int other) {
        lock.lock();
        try {
            Binding mine = binding(row);
            Binding theirs = binding(other);
            rebind(row, theirs);
            rebind(other, mine);
        } finally {
            lock.unlock();
        }
    }

    /** The region that an lkey names now, or null; for threads other than the engines'. */
    @Nullable
    public Named named(int lkey) {
        lock.lock();
        try {
            int row = findLocal(lkey);
            if (row < 0) {
                return null;
            }
            long at = rowAddress(row);
            return new Named(
                    binding(row),
                    getInt(at + DOMAIN_OFFSET),
                    getInt(at + RIGHTS_OFFSET),
                    NativeMemory.getNativeLong(at + BASE_OFFSET),
                    NativeMemory.getNativeLong(at + LENGTH_OFFSET));
        } finally {
            lock.unlock();
        }
    }

    /** Number of live rows. */
    public int live() {
        lock.lock();
        try {
            return live;
        } finally {
            lock.unlock();
        }
    }

    /** Finds the live row of an rkey, or -1. Engine thread, inside a batch. */
    public int findRemote(int rkey) {
        int row = rkeys.unscramble(rkey) >>> Byte.SIZE;
        long chunk = (long) CHUNK.getAcquire(chunks, row >>> CHUNK_SHIFT);
        if (chunk == 0 || rkey == 0 || getInt(chunk + rowOffset(row) + RKEY_OFFSET) != rkey) {
            return -1;
        }
        // Pairs with the release fence of chooseKeys: the fields of the row are those written before its key.
        VarHandle.acquireFence();
        return row;
    }

    /** Finds the live row of an lkey, or -1. Engine thread, inside a batch. */
    public int findLocal(int lkey) {
        int row = lkeys.unscramble(lkey) >>> Byte.SIZE;
        long chunk = (long) CHUNK.getAcquire(chunks, row >>> CHUNK_SHIFT);
        if (chunk == 0 || lkey == 0 || getInt(chunk + rowOffset(row) + LKEY_OFFSET) != lkey) {
            return -1;
        }
        // Pairs with the release fence of chooseKeys: the fields of the row are those written before its key.
        VarHandle.acquireFence();
        return row;
    }

    /**
     * Checks an access of at least one byte to the memory of a row. Engine thread, inside a batch.
     *
     * @param row from {@link #findRemote} or {@link #findLocal}; -1 is an invalid STag
     * @param domain protection domain of the queue pair
     * @param rights rights needed
     * @param address first address as the peer or the entry names it
     * @param length bytes, more than 0
     */
    public AccessResult check(int row, int domain, int rights, long address, long length) {
        if (row < 0) {
            return AccessResult.INVALID_STAG;
        }
        long at = rowAddress(row);
        return AccessCheck.check(
                getInt(at + DOMAIN_OFFSET),
                getInt(at + RIGHTS_OFFSET),
                NativeMemory.getNativeLong(at + BASE_OFFSET),
                NativeMemory.getNativeLong(at + LENGTH_OFFSET),
                domain,
                rights,
                address,
                length);
    }

    /** True if the pages of a row's memory are pinned on first use. */
    public boolean isLazy(int row) {
        return (getInt(rowAddress(row) + RIGHTS_OFFSET) & AccessRights.LAZY) != 0;
    }

    /** True if a row's memory is moved by whole words. */
    public boolean isPolled(int row) {
        return (getInt(rowAddress(row) + RIGHTS_OFFSET) & AccessRights.POLLED) != 0;
    }

    /** The raw address now of an address that {@link #check} has granted. Valid until the batch ends. */
    public long rawAddress(int row, long address) {
        long at = rowAddress(row);
        return NativeMemory.getNativeLong(at + ADDRESS_OFFSET)
                + (address - NativeMemory.getNativeLong(at + BASE_OFFSET));
    }

    /** Distance of an address from the start of the row's memory. */
    public long offset(int row, long address) {
        return address - NativeMemory.getNativeLong(rowAddress(row) + BASE_OFFSET);
    }

    /** A row's current binding, for addresses that are kept beyond the batch. */
    public Binding binding(int row) {
        Binding binding = bindings[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)];
        if (binding == null) {
            throw new IllegalStateException("row " + row + " is free");
        }
        return binding;
    }

    /** A row's current binding if its memory contains a raw address, else null: the row was swapped. */
    public @Nullable Binding bindingOf(int row, long rawAddress) {
        Binding binding = binding(row);
        long offset = rawAddress - binding.address();
        return offset >= 0 && offset < NativeMemory.getNativeLong(rowAddress(row) + LENGTH_OFFSET) ? binding : null;
    }

    /** Releases the table's own memory. No engine may use it any more. */
    @Override
    public void close() {
        pages.forEach(PageMemory::close);
        pages.clear();
    }

    private void rebind(int row, Binding binding) {
        bindings[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)] = binding;
        NativeMemory.putNativeLong(rowAddress(row) + ADDRESS_OFFSET, binding.address());
    }

    private int takeRow() {
        if (reuse == NumberReuse.AT_ONCE && !freeRows.isEmpty()) {
            return freeRows.removeLast();
        }
        Integer reused = freeRows.size() > MIN_FREE_ROWS || rows == maxRows ? freeRows.pollFirst() : null;
        if (reused != null) {
            return reused;
        }
        if (rows == maxRows) {
            return -1;
        }
        int row = rows;
        if ((row & (CHUNK_ROWS - 1)) == 0) {
            addChunk(row >>> CHUNK_SHIFT);
        }
        rows++;
        return row;
    }

    private void addChunk(int chunk) {
        // First: if allocating a chunk fails, nothing has changed, and the next attempt starts afresh.
        bindings[chunk] = new Binding[CHUNK_ROWS];
        keyBytes[chunk] = new byte[CHUNK_ROWS];
        PageMemory rowMemory = memory.map((long) CHUNK_ROWS * ROW_BYTES, new MemorySource.Anonymous());
        pages.add(rowMemory);
        // Pairs with the acquire of findRemote and findLocal.
        CHUNK.setRelease(chunks, chunk, rowMemory.segment().address());
    }

    private void chooseKeys(int row, long at) {
        byte[] bytes = keyBytes[row >>> CHUNK_SHIFT];
        // The byte of a row that was never used is 0: its number might be 0, too.
        int step = reuse == NumberReuse.AT_ONCE && bytes[row & (CHUNK_ROWS - 1)] != 0 ? 0 : 1;
        int rkey;
        int lkey;
        do {
            bytes[row & (CHUNK_ROWS - 1)] += (byte) step;
            step = 1; // a key that cannot be is another one at the next attempt
            int number = (row << Byte.SIZE) | (bytes[row & (CHUNK_ROWS - 1)] & 0xFF);
            rkey = rkeys.scramble(number);
            lkey = lkeys.scramble(number);
        } while (rkey == 0 || lkey == 0 || rkey == lkey || findRemote(lkey) >= 0 || findLocal(rkey) >= 0);
        VarHandle.releaseFence();
        putInt(at + LKEY_OFFSET, lkey);
        putInt(at + RKEY_OFFSET, rkey);
    }

    private long rowAddress(int row) {
        return chunks[row >>> CHUNK_SHIFT] + rowOffset(row);
    }

    private static long rowOffset(int row) {
        return (long) (row & (CHUNK_ROWS - 1)) * ROW_BYTES;
    }

    private static int getInt(long address) {
        return NativeMemory.getNativeInt(address);
    }

    private static void putInt(long address, int value) {
        NativeMemory.putNativeInt(address, value);
    }

    /**
     * The fields of a region's row.
     *
     * @param binding its memory
     * @param domain its protection domain
     * @param rights {@link AccessRights}
     * @param base its first address, as scatter/gather entries name it
     * @param length its bytes
     */
    public record Named(Binding binding, int domain, int rights, long base, long length) {}

    /**
     * A bijection of 32-bit numbers with secret constants: four Feistel rounds with a multiplication in each. It
     * prevents a peer that knows some keys from computing others. It is not a cipher; keys travel in the clear anyway.
     */
    private static final class Scrambler {
        private static final int HALF = 16;
        private static final int HALF_MASK = 0xFFFF;

        private final int key0;
        private final int key1;
        private final int key2;
        private final int key3;
        private final int factor0;
        private final int factor1;
        private final int factor2;
        private final int factor3;

        Scrambler(RandomGenerator random) {
            key0 = random.nextInt();
            key1 = random.nextInt();
            key2 = random.nextInt();
            key3 = random.nextInt();
            factor0 = random.nextInt() | 1;
            factor1 = random.nextInt() | 1;
            factor2 = random.nextInt() | 1;
            factor3 = random.nextInt() | 1;
        }

        int scramble(int number) {
            int left = number >>> HALF;
            int right = number & HALF_MASK;
            left ^= round(right, key0, factor0);
            right ^= round(left, key1, factor1);
            left ^= round(right, key2, factor2);
            right ^= round(left, key3, factor3);
            return left << HALF | right;
        }

        int unscramble(int key) {
            int left = key >>> HALF;
            int right = key & HALF_MASK;
            right ^= round(left, key3, factor3);
            left ^= round(right, key2, factor2);
            right ^= round(left, key1, factor1);
            left ^= round(right, key0, factor0);
            return left << HALF | right;
        }

        private static int round(int half, int key, int factor) {
            int x = (half + key) * factor;
            return (x ^ (x >>> HALF)) >>> 8 & HALF_MASK;
        }
    }
}
