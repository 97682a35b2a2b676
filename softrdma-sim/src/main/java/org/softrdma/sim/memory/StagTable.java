package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.agrona.collections.Int2IntHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
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
 *   +--------------------------------+--------------------------------+
 *   |  windows bound to the region   |                                   40
 *   +--------------------------------+
 * </pre>
 *
 * <p>A row may also be a memory window ({@link Windows}): it has no lkey, and instead of a domain the negative number
 * of the one stream that may use it ({@link StreamWindows}). Its owner may have chosen its key, as applications of verbs do
 * with the low eight bits: such keys are in a map, where whatever is no key of a row is looked for while there are some.
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

    /** Rows of a chunk, and bits of a row's number in its chunk. */
    public static final int CHUNK_SHIFT = 15;

    /** Bits of a row's number in the number that its keys encode, behind those that change. */
    public static final int ROW_SHIFT = Byte.SIZE;

    /** A chunk of rows is one huge page: a look-up among a million keys misses the caches, but not the TLB. */
    private static final int CHUNK_ROWS = 1 << CHUNK_SHIFT;

    private static final int ROW_BYTES = 64;
    private static final int RKEY_OFFSET = 0;
    private static final int LKEY_OFFSET = RKEY_OFFSET + Integer.BYTES;
    private static final int RIGHTS_OFFSET = LKEY_OFFSET + Integer.BYTES;
    private static final int DOMAIN_OFFSET = RIGHTS_OFFSET + Integer.BYTES;
    private static final int BASE_OFFSET = DOMAIN_OFFSET + Integer.BYTES;
    private static final int LENGTH_OFFSET = BASE_OFFSET + Long.BYTES;
    private static final int ADDRESS_OFFSET = LENGTH_OFFSET + Long.BYTES;
    private static final int WINDOWS_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** No row is reused until this many are free, so that old keys do not become valid again soon. */
    private static final int MIN_FREE_ROWS = 1024;

    /** Sinks of one queue pair, most often one. */
    private static final int REMEMBERED_LKEYS = 4;

    private static final int BYTE_MASK = 0xFF;
    /** Instead of a domain, in the row of a window that is not bound: domains are positive, streams negative. */
    private static final int NO_STREAM = 0;

    private static final VarHandle CHUNK = MethodHandles.arrayElementVarHandle(long[].class);

    private final ReentrantLock lock = new ReentrantLock();
    private final MemoryOperations memory;
    private final List<PageMemory> pages = new ArrayList<>();
    private final int maxRows;
    private final NumberReuse reuse;
    private final KeyScrambler rkeys;
    private final KeyScrambler lkeys;
    private final long[] chunks;
    private final Binding[][] bindings;
    private final byte[][] keyBytes;
    private final ArrayDeque<Integer> freeRows = new ArrayDeque<>();
    private int rows;
    private int live;
    private RowMirror mirror = RowMirror.NONE;
    /** Rows of windows whose keys were chosen by their owner, and so do not say which row it is. Under the lock. */
    private final Int2IntHashMap chosenKeys = new Int2IntHashMap(-1);

    private volatile boolean hasChosenKeys;

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
        rkeys = new KeyScrambler(random);
        lkeys = new KeyScrambler(random);
        int chunkCount = MAX_ROWS >>> CHUNK_SHIFT;
        chunks = new long[chunkCount];
        bindings = new Binding[chunkCount][];
        keyBytes = new byte[chunkCount][];
    }

    /** From now on somebody repeats what rows say. Before there is one. */
    public void mirror(RowMirror newMirror) {
        mirror = newMirror;
    }

    /** The constants of its rkeys, for somebody who may compute the row of each. */
    public int[] rkeySecrets() {
        return rkeys.secrets();
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
        return add(new Binding(segment, rights), new Place(base, segment.byteSize(), rights, domain));
    }

    /**
     * Adds a row.
     *
     * @param binding its memory
     * @param place what else it says
     * @return the row, or -1 if the table is full
     */
    public int add(Binding binding, Place place) {
        lock.lock();
        try {
            int row = takeRow();
            if (row < 0) {
                return row;
            }
            describe(row, binding, place.base, place.length, place.rights, place.domain);
            putInt(rowAddress(row) + WINDOWS_OFFSET, 0);
            chooseKeys(row);
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
     *
     * @return false if windows are bound to it; then nothing has changed
     */
    public boolean invalidate(int row) {
        lock.lock();
        try {
            boolean free = suspend(row);
            live -= free ? 1 : 0;
            return free;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Invalidates a row's keys until {@link #resume}: engines refuse them from the next batch on.
     *
     * @return false if windows are bound to it; then nothing has changed
     */
    public boolean suspend(int row) {
        lock.lock();
        try {
            long at = rowAddress(row);
            if (getInt(at + WINDOWS_OFFSET) > 0) {
                return false;
            }
            putInt(at + RKEY_OFFSET, 0);
            putInt(at + LKEY_OFFSET, 0);
            mirror.saysNothing(row);
            binding(row).kill();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A suspended row names other memory, or has other rights, by the same keys; by new ones if a key was given away
     * meanwhile. Only after {@link Quiescence#await}.
     *
     * @param row of the region
     * @param binding its memory from now on
     * @param place what else its row says
     */
    public void resume(int row, Binding binding, Place place) {
        lock.lock();
        try {
            binding(row).letGo();
            describe(row, binding, place.base, place.length, place.rights, place.domain);
            int number = number(row);
            int rkey = rkeys.scramble(number);
            int lkey = lkeys.scramble(number);
            if (isUsable(rkey, lkey)) {
                publish(row, rkey, lkey);
            } else {
                chooseKeys(row);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes an invalidated row reusable. Only after {@link Quiescence#await}. */
    public void free(int row) {
        lock.lock();
        try {
            binding(row).letGo();
            giveBack(row);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Exchanges the memory that two live rows name. Each row changes by one aligned store.
     *
     * @return false if windows are bound to one of them; then nothing has changed
     */
    public boolean swap(int row, int other) {
        lock.lock();
        try {
            if (getInt(rowAddress(row) + WINDOWS_OFFSET) + getInt(rowAddress(other) + WINDOWS_OFFSET) > 0) {
                return false;
            }
            Binding mine = binding(row);
            Binding theirs = binding(other);
            rebind(row, theirs);
            rebind(other, mine);
            repeat(row);
            repeat(other);
            return true;
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

    /** Number of live regions. */
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
        int row = rkeys.unscramble(rkey) >>> ROW_SHIFT;
        long chunk = (long) CHUNK.getAcquire(chunks, row >>> CHUNK_SHIFT);
        if (chunk == 0 || rkey == 0 || getInt(chunk + rowOffset(row) + RKEY_OFFSET) != rkey) {
            return hasChosenKeys ? findChosen(rkey) : -1;
        }
        // Pairs with the release fence of chooseKeys: the fields of the row are those written before its key.
        VarHandle.acquireFence();
        return row;
    }

    private int findChosen(int rkey) {
        lock.lock();
        try {
            return chosenKeys.get(rkey);
        } finally {
            lock.unlock();
        }
    }

    /** Finds the live row of an lkey, or -1. Engine thread, inside a batch. */
    public int findLocal(int lkey) {
        return findLocal(lkeys.unscramble(lkey) >>> ROW_SHIFT, lkey);
    }

    /** Finds the live row of an lkey that was probably asked for before, or -1. Inside a batch. */
    public int findLocal(RecentKeys recent, int lkey) {
        return findLocal(recent.number(lkey) >>> ROW_SHIFT, lkey);
    }

    /** For {@link #findLocal(RecentKeys, int)}. */
    public RecentKeys recentLkeys() {
        return new RecentKeys(lkeys, REMEMBERED_LKEYS);
    }

    /** The row, if it is live and has this lkey, or -1. Inside a batch. */
    public int findLocal(int row, int lkey) {
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

    /** What a row says, all but its keys, which make it valid. */
    private void describe(int row, Binding binding, long base, long length, int rights, int domainOrStream) {
        rebind(row, binding);
        long at = rowAddress(row);
        NativeMemory.putNativeLong(at + LENGTH_OFFSET, length);
        NativeMemory.putNativeLong(at + BASE_OFFSET, base);
        putInt(at + RIGHTS_OFFSET, rights);
        putInt(at + DOMAIN_OFFSET, domainOrStream);
    }

    private void giveBack(int row) {
        bindings[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)] = null;
        freeRows.addLast(row);
    }

    private void chooseKeys(int row) {
        int number = number(row);
        // The byte of a row that was never used is 0: its number might be 0, too.
        boolean again = reuse == NumberReuse.AT_ONCE && (number & BYTE_MASK) != 0;
        int rkey;
        int lkey;
        do {
            number = again ? number : nextNumber(row);
            again = false; // a key that cannot be is another one at the next attempt
            rkey = rkeys.scramble(number);
            lkey = lkeys.scramble(number);
        } while (!isUsable(rkey, lkey));
        publish(row, rkey, lkey);
    }

    /** The number that the keys of a row encode. */
    private int number(int row) {
        return (row << Byte.SIZE) | (keyBytes[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)] & BYTE_MASK);
    }

    private int nextNumber(int row) {
        keyBytes[row >>> CHUNK_SHIFT][row & (CHUNK_ROWS - 1)]++;
        return number(row);
    }

    private boolean isUsable(int rkey, int lkey) {
        return rkey != 0
                && lkey != 0
                && rkey != lkey
                && findChosen(rkey) < 0
                && findRemote(lkey) < 0
                && findLocal(rkey) < 0
                && !isOfWindow(rkeys.unscramble(lkey) >>> Byte.SIZE);
    }

    /** True if any rkey of a row is a window's, now or later. */
    private boolean isOfWindow(int row) {
        return row < rows && (getInt(rowAddress(row) + RIGHTS_OFFSET) & AccessRights.WINDOW) != 0;
    }

    private void publish(int row, int rkey, int lkey) {
        long at = rowAddress(row);
        VarHandle.releaseFence();
        putInt(at + LKEY_OFFSET, lkey);
        putInt(at + RKEY_OFFSET, rkey);
        repeat(row);
    }

    private void repeat(int row) {
        if (mirror != RowMirror.NONE) {
            long at = rowAddress(row);
            mirror.says(
                    row,
                    new RowContent(
                            getInt(at + RKEY_OFFSET),
                            getInt(at + DOMAIN_OFFSET),
                            getInt(at + RIGHTS_OFFSET),
                            NativeMemory.getNativeLong(at + BASE_OFFSET),
                            NativeMemory.getNativeLong(at + LENGTH_OFFSET),
                            NativeMemory.getNativeLong(at + ADDRESS_OFFSET)));
        }
    }

    // ---- windows, for Windows, under the lock

    ReentrantLock lock() {
        return lock;
    }

    /** Takes the row of a window that is not bound; -1 if the table is full. */
    int takeWindow() {
        int row = takeRow();
        if (row >= 0) {
            putInt(rowAddress(row) + RIGHTS_OFFSET, AccessRights.WINDOW);
            putInt(rowAddress(row) + DOMAIN_OFFSET, NO_STREAM);
        }
        return row;
    }

    /** The key that a window has when it is bound next; nobody can use it before. */
    int nextWindowKey(int row) {
        int rkey;
        do {
            rkey = rkeys.scramble(nextNumber(row));
        } while (rkey == 0 || rkey == rkey(row) || findLocal(rkey) >= 0);
        return rkey;
    }

    /**
     * Makes the row of a window name part of a region.
     *
     * @param row of the window
     * @param binding its memory
     * @param base first address as peers name it
     * @param length bytes
     * @param rights {@link AccessRights}
     * @param stream its negative number, in place of a domain
     * @param region row of the region
     */
    void bindWindow(int row, int key, Binding binding, long base, long length, int rights, int stream, int region) {
        if (isChosen(row, key)) {
            chosenKeys.put(key, row);
            hasChosenKeys = true;
        }
        describe(row, binding, base, length, rights, stream);
        long count = rowAddress(region) + WINDOWS_OFFSET;
        putInt(count, getInt(count) + 1);
        VarHandle.releaseFence();
        putInt(rowAddress(row) + RKEY_OFFSET, key);
    }

    private boolean isChosen(int row, int key) {
        return rkeys.unscramble(key) >>> ROW_SHIFT != row;
    }

    /** True if a key cannot be that of a window, because it is another's. */
    boolean isTaken(int key, int row) {
        return isChosen(row, key)
                && (key == 0 || findLocal(key) >= 0 || (findRemote(key) >= 0 && findRemote(key) != row));
    }

    /** The row of a window names nothing any more. Only its stream's engine has to be told; it may bind it again. */
    void unbindWindow(int row, int key, int region) {
        chosenKeys.remove(key);
        hasChosenKeys = !chosenKeys.isEmpty();
        putInt(rowAddress(row) + RKEY_OFFSET, 0);
        putInt(rowAddress(row) + DOMAIN_OFFSET, NO_STREAM);
        Binding bound = binding(row);
        bound.kill();
        long count = rowAddress(region) + WINDOWS_OFFSET;
        putInt(count, getInt(count) - 1);
    }

    /** Makes the row of a window reusable that is not bound. Only after {@link Quiescence#await}. */
    void freeWindow(int row) {
        putInt(rowAddress(row) + RIGHTS_OFFSET, AccessRights.NONE);
        giveBack(row);
    }

    /** The rights in a row. */
    int rights(int row) {
        return getInt(rowAddress(row) + RIGHTS_OFFSET);
    }

    /** The domain in a row, or the negative number of the stream of a window. */
    int domain(int row) {
        return getInt(rowAddress(row) + DOMAIN_OFFSET);
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
     * What the row of a region says beside its keys and its memory.
     *
     * @param base first address as peers and entries name it
     * @param length bytes
     * @param rights {@link AccessRights}
     * @param domain protection domain
     */
    public record Place(long base, long length, int rights, int domain) {}
}
