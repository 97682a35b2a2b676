package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.agrona.collections.LongArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.item.ItemWriter;
import org.softrdma.kv.turns.StepPoint;
import org.softrdma.kv.turns.Turns;

/**
 * Hands out chunks of registered memory. Arenas are cut into pages, a page into chunks of one class. A page changes its
 * class only when it is empty ({@link PageMover}); its chunks then begin with a generation that is later than any that a
 * chunk of it had, because a peer may still have the locator of one. Free chunks of a class wait in a queue
 * and are used oldest first, and not before {@link #QUARANTINE} others of the class (a quarter of a page, where
 * chunks are large) while there is fresh memory: a client that still has the locator of a replaced item then finds
 * the forward locator instead of a stranger. Its safety does not depend on this.
 *
 * <p>A chunk is a number: arena + 1 in the upper bits, offset in the lower {@link #OFFSET_BITS}; 0 is none.
 * Thread-safe: one short lock per class, one for pages. What {@link SlabPage} keeps per chunk belongs to the store.
 */
public final class SlabAllocator {
    private static final Logger LOG = LoggerFactory.getLogger(SlabAllocator.class);

    /** No chunk: out of memory. */
    public static final long NONE = 0;

    /** No class: pages that any class may take, memcached's global page pool. */
    static final int POOL = -1;

    /** The largest arena: one buffer of Java, and what a device registers in one piece. */
    public static final long MAX_ARENA_LENGTH = 1L << 30;

    /** The smallest arena. */
    public static final long MIN_ARENA_LENGTH = 64L << 20;

    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final int QUARANTINE = 64;
    private static final int QUARANTINES_PER_PAGE = 4;
    private static final long ARENAS_WANTED_AT_MOST = 64;

    private final SlabGeometry geometry;
    private final ArenaSource source;
    private final boolean wiping;
    private final Turns turns;
    private final ItemWriter writer;
    private volatile long memoryLimit;
    private final long arenaLength;
    private final int pageShift;
    private final SizeClass[] classes;
    private final SegmentedLru[] lrus;
    private final LruRules lruRules = new LruRules();

    private final ReentrantLock pageLock = new ReentrantLock();
    private volatile ArenaPages[] arenas = {};

    /** Arenas that pages have been cut from; the last of them is where the next page comes from. */
    private int cutArenas;

    private long nextPageOffset;
    private volatile long pagedBytes;

    /** First chunks of the pages that no class has. */
    private final LongArrayQueue pool = new LongArrayQueue(NONE);

    /** First chunks of pages that were taken from the pool because the limit became less: as if they were never cut. */
    private final LongArrayQueue spare = new LongArrayQueue(NONE);

    /** The machine or device gave no further arena, and is not asked again before the limit changes. */
    private boolean refused;

    /**
     * An allocator without memory yet.
     *
     * @param geometry the classes
     * @param source where arenas come from
     * @param memoryLimit bytes in all, at least a page
     */
    public SlabAllocator(SlabGeometry geometry, ArenaSource source, long memoryLimit) {
        this(geometry, source, memoryLimit, false, Turns.OF_JVM);
    }

    /**
     * An allocator without memory yet.
     *
     * @param geometry the classes
     * @param source where arenas come from
     * @param memoryLimit bytes in all, at least a page
     * @param wiping whether the key and value of an item are overwritten before its chunk is free
     * @param turns of all threads that change the store
     */
    public SlabAllocator(SlabGeometry geometry, ArenaSource source, long memoryLimit, boolean wiping, Turns turns) {
        if (memoryLimit < geometry.pageLength()) {
            throw new IllegalArgumentException(
                    "memoryLimit=" + memoryLimit + " is less than a page of " + geometry.pageLength() + " bytes");
        }
        this.geometry = geometry;
        this.source = source;
        this.wiping = wiping;
        this.turns = turns;
        this.writer = new ItemWriter(turns);
        this.memoryLimit = memoryLimit;
        this.arenaLength =
                memoryLimit <= MIN_ARENA_LENGTH * ARENAS_WANTED_AT_MOST ? MIN_ARENA_LENGTH : MAX_ARENA_LENGTH;
        this.pageShift = Integer.numberOfTrailingZeros(geometry.pageLength());
        this.nextPageOffset = arenaLength;
        this.classes = new SizeClass[geometry.classes()];
        Arrays.setAll(classes, SizeClass::new);
        this.lrus = new SegmentedLru[geometry.classes()];
        Arrays.setAll(
                lrus,
                i -> new SegmentedLru(geometry.pageLength() / geometry.chunkLength(i), turns.newLock(), lruRules));
    }

    /** The classes. */
    public SlabGeometry geometry() {
        return geometry;
    }

    /** How threads that change the store take turns. */
    Turns turns() {
        return turns;
    }

    /** Changes items in this memory. */
    ItemWriter writer() {
        return writer;
    }

    /** The most bytes that pages may take. */
    public long memoryLimit() {
        return memoryLimit;
    }

    /**
     * Changes how much pages may take; those that a class has stay.
     *
     * @param bytes the limit
     */
    void memoryLimit(long bytes) {
        pageLock.lock();
        try {
            memoryLimit = bytes;
            refused = false;
            shrinkPool();
        } finally {
            pageLock.unlock();
        }
    }

    /** Bytes that pages take now. */
    public long pagedBytes() {
        return pagedBytes;
    }

    /**
     * Makes the first arena now, so that a machine or device that cannot give it says so at the start.
     *
     * @param all whether to make all of them
     */
    public void prepare(boolean all) {
        pageLock.lock();
        try {
            while (arenas.length == 0 || (all && arenas.length * arenaLength < memoryLimit)) {
                addArena();
            }
        } finally {
            pageLock.unlock();
        }
    }

    /**
     * Takes a chunk; its content is that of its last life.
     *
     * @param sizeClass 0 to {@link SlabGeometry#classes()} - 1
     * @return the chunk, or {@link #NONE}
     */
    long allocate(int sizeClass) {
        return classes[sizeClass].allocate();
    }

    /** Gives a chunk back that nothing uses any more: its item has died, or never lived. */
    void free(long chunk) {
        if (wiping) {
            writer.wipe(memory(chunk), offset(chunk));
        }
        turns.step(StepPoint.FREED);
        classes[page(chunk).sizeClass].free(chunk);
    }

    /** The rules of all classes. */
    LruRules lruRules() {
        return lruRules;
    }

    /** The order in which items of a class are evicted. */
    SegmentedLru lru(int sizeClass) {
        return lrus[sizeClass];
    }

    /**
     * Takes a page of a class out of use: none of its free chunks is handed out any more, and those that are freed wait
     * with it. One page of a class at a time.
     *
     * @return the page that the class has had for longest; null if it has no other, or the device has no room for the
     *     names that it leaves behind
     */
    @Nullable
    SlabPage leave(int sizeClass) {
        return classes[sizeClass].leave();
    }

    /** True if nothing uses a chunk of a page that {@link #leave} has returned. */
    boolean isEmpty(SlabPage page) {
        return classes[page.sizeClass].isEmpty();
    }

    /** Takes {@link #leave} back. */
    void stay(SlabPage page) {
        classes[page.sizeClass].stay();
    }

    /**
     * Gives an empty page to another class, or to the {@link #POOL}.
     *
     * @param page that {@link #leave} has returned
     * @param sizeClass its next class; if the device has no names for that one's chunks, it goes to the pool
     * @return false if the page has to stay what it is
     */
    boolean give(SlabPage page, int sizeClass) {
        if (!page.names.retire()) {
            return false;
        }
        int generation = 0;
        for (int i = 0; i < page.chunks(); i++) {
            generation = writer.laterGeneration(memory(page.firstChunk), offset(page.chunk(i)), generation);
        }
        classes[page.sizeClass].forget(page);
        ArenaPages arena = arenas[arenaIndex(page.firstChunk)];
        int number = (int) (offset(page.firstChunk) >>> pageShift);
        pageLock.lock();
        try {
            arena.pages[number] = null;
            arena.generations[number] = generation;
            if (sizeClass == POOL) {
                pool.offerLong(page.firstChunk);
                shrinkPool();
            }
        } finally {
            pageLock.unlock();
        }
        if (sizeClass != POOL) {
            classes[sizeClass].adopt(page.firstChunk);
        }
        return true;
    }

    /** What is beyond the limit is not the pool's. With the page lock. */
    private void shrinkPool() {
        long paged = pagedBytes;
        while (paged > memoryLimit && pool.size() > 0) {
            spare.offerLong(pool.pollLong());
            paged -= geometry.pageLength();
        }
        pagedBytes = paged;
    }

    /** Pages that no class has. */
    int pooledPages() {
        pageLock.lock();
        try {
            return pool.size();
        } finally {
            pageLock.unlock();
        }
    }

    /** Pages of a class and what of them is in use; any thread. */
    SizeClassStatistics.Slab statistics(int sizeClass) {
        return classes[sizeClass].statistics();
    }

    /**
     * The chunk that a locator leads to now, or {@link #NONE} if no chunk starts there.
     *
     * @param first first half of the locator; of a peer, it may be anything
     */
    long chunkAt(long first) {
        long address = source.address(first);
        ArenaPages[] all = arenas;
        for (int i = 0; i < all.length; i++) {
            long offset = address - all[i].memory.address();
            if (offset >= 0 && offset < arenaLength) {
                SlabPage page = all[i].pages[(int) (offset >>> pageShift)];
                if (page == null) {
                    return NONE; // it was never cut, or changes its class
                }
                long chunk = (long) (i + 1) << OFFSET_BITS | offset;
                return indexInPage(page, chunk) < page.chunks() && page.chunk(indexInPage(page, chunk)) == chunk
                        ? chunk
                        : NONE;
            }
        }
        return NONE;
    }

    /** The memory in which a chunk lies. */
    MemorySegment memory(long chunk) {
        return arenas[arenaIndex(chunk)].memory;
    }

    /** The same memory, for copies into buffers: one object for all threads, so its position and limit stay as they are. */
    ByteBuffer bytes(long chunk) {
        return arenas[arenaIndex(chunk)].bytes;
    }

    /** The arena in which a chunk lies. */
    ItemArena arena(long chunk) {
        return arenas[arenaIndex(chunk)].arena;
    }

    /** Offset of a chunk in its arena. */
    static long offset(long chunk) {
        return chunk & OFFSET_MASK;
    }

    /** The page of a chunk that somebody uses: that keeps its class. */
    SlabPage page(long chunk) {
        SlabPage page = pageOrNull(chunk);
        if (page == null) {
            throw new IllegalStateException("chunk " + Long.toHexString(chunk) + " is in no page");
        }
        return page;
    }

    /** The page where a chunk was; null while that changes its class. */
    @Nullable
    SlabPage pageOrNull(long chunk) {
        return arenas[arenaIndex(chunk)].pages[(int) (offset(chunk) >>> pageShift)];
    }

    /** Index of a chunk in its page. */
    int indexInPage(SlabPage page, long chunk) {
        return (int) (offset(chunk) & (geometry.pageLength() - 1)) / page.chunkLength;
    }

    private static int arenaIndex(long chunk) {
        return (int) (chunk >>> OFFSET_BITS) - 1;
    }

    /** Lets two chunks change what peers call them, if they are of one class: a name is good for one length. */
    void exchange(long chunk, long other) {
        SlabPage page = page(chunk);
        SlabPage otherPage = page(other);
        if (page.sizeClass == otherPage.sizeClass) {
            page.names.exchange(indexInPage(page, chunk), otherPage.names, indexInPage(otherPage, other));
        }
        turns.step(StepPoint.NAMES_EXCHANGED);
    }

    /** A page for a class, or null. As in memcached a class may always have one, as long as the device can name its chunks. */
    private @Nullable SlabPage newPage(int sizeClass, int ordinal, boolean first) {
        pageLock.lock();
        try {
            long usedBytes = pagedBytes - (long) pool.size() * geometry.pageLength();
            if (pool.size() > 0 && (first || usedBytes + geometry.pageLength() <= memoryLimit)) {
                SlabPage pooled = cut(pool.peekLong(), sizeClass, ordinal);
                if (pooled != null) {
                    pool.pollLong();
                }
                return pooled;
            }
            long paged = pagedBytes + geometry.pageLength();
            if (paged > memoryLimit && !first) {
                return null;
            }
            boolean again = spare.size() > 0;
            if (!again && nextPageOffset + geometry.pageLength() > arenaLength && !nextArena()) {
                return null;
            }
            long firstChunk = again ? spare.peekLong() : (long) cutArenas << OFFSET_BITS | nextPageOffset;
            SlabPage page = cut(firstChunk, sizeClass, ordinal);
            if (page == null) {
                return null;
            }
            pagedBytes = paged;
            if (again) {
                spare.pollLong();
            } else {
                nextPageOffset += geometry.pageLength();
            }
            return page;
        } finally {
            pageLock.unlock();
        }
    }

    /** Cuts a page that no class has, or null if the device has no names for its chunks. With the page lock. */
    private @Nullable SlabPage cut(long firstChunk, int sizeClass, int ordinal) {
        int chunkLength = geometry.chunkLength(sizeClass);
        int chunks = geometry.pageLength() / chunkLength;
        ArenaPages arena = arenas[arenaIndex(firstChunk)];
        int number = (int) (offset(firstChunk) >>> pageShift);
        if (ordinal >= Integer.MAX_VALUE / chunks) {
            return null;
        }
        if (arena.generations[number] != 0) {
            for (int i = 0; i < chunks; i++) {
                writer.begin(arena.memory, offset(firstChunk) + (long) i * chunkLength, arena.generations[number]);
            }
        }
        RemotePage names =
                arena.arena.cut(offset(firstChunk), chunkLength, chunks).orElse(null);
        if (names == null) {
            return null;
        }
        SlabPage page = new SlabPage(sizeClass, chunkLength, ordinal, firstChunk, chunks, names);
        arena.pages[number] = page;
        return page;
    }

    /** Goes on to the next arena, which there is if all were made at the start. */
    private boolean nextArena() {
        if (cutArenas == arenas.length && !tryAddArena()) {
            return false;
        }
        cutArenas++;
        nextPageOffset = 0;
        return true;
    }

    private boolean tryAddArena() {
        if (refused) {
            return false;
        }
        try {
            addArena();
            return true;
        } catch (RuntimeException e) {
            refused = true;
            LOG.error(
                    "no further memory for items, {} of {} bytes are used: {}", pagedBytes, memoryLimit, e.toString());
            return false;
        }
    }

    private void addArena() {
        ArenaPages added = new ArenaPages(source.create(arenaLength), (int) (arenaLength >>> pageShift));
        ArenaPages[] more = Arrays.copyOf(arenas, arenas.length + 1);
        more[arenas.length] = added;
        arenas = more;
    }

    /** An arena and its pages; a page appears under the page lock before a chunk of it can reach another thread. */
    private static final class ArenaPages {
        final ItemArena arena;
        final MemorySegment memory;
        final ByteBuffer bytes;
        final @Nullable SlabPage[] pages;

        /** With which chunks of a page begin that had another class; else 0. */
        final int[] generations;

        ArenaPages(ItemArena arena, int pageCount) {
            this.arena = arena;
            this.memory = arena.memory();
            this.bytes = memory.asByteBuffer();
            this.pages = new SlabPage[pageCount];
            this.generations = new int[pageCount];
        }
    }

    /** The pages and free chunks of one class. */
    private final class SizeClass {
        private final int number;
        private final int chunkLength;
        private final int chunksPerPage;
        private final int quarantine;
        private final ReentrantLock lock = new ReentrantLock();
        private final LongArrayQueue freed = new LongArrayQueue(NONE);

        /** In the order in which they came. */
        private final List<SlabPage> pages = new ArrayList<>();

        /** Of which no chunk was handed out. */
        private final ArrayDeque<SlabPage> unused = new ArrayDeque<>();

        private final BitSet ordinals = new BitSet();
        private long fresh;
        private int freshLeft;

        /** Is being emptied, and the chunks of it that nothing uses. */
        private @Nullable SlabPage leaving;

        private final LongArrayQueue idle = new LongArrayQueue(NONE);

        SizeClass(int number) {
            this.number = number;
            this.chunkLength = geometry.chunkLength(number);
            this.chunksPerPage = geometry.pageLength() / chunkLength;
            this.quarantine = Math.clamp(chunksPerPage / QUARANTINES_PER_PAGE, 1, QUARANTINE);
        }

        long allocate() {
            lock.lock();
            try {
                if (freed.size() >= quarantine) {
                    return freed.pollLong();
                }
                if (freshLeft == 0 && !begin()) {
                    return freed.pollLong();
                }
                long chunk = fresh;
                fresh += chunkLength;
                freshLeft--;
                return chunk;
            } finally {
                lock.unlock();
            }
        }

        /** Goes on to a page of which no chunk was handed out; false if there is none. */
        private boolean begin() {
            SlabPage next = unused.poll();
            if (next == null) {
                next = newPage(number, ordinals.nextClearBit(0), pages.isEmpty());
                if (next == null) {
                    return false;
                }
                add(next);
            }
            fresh = next.firstChunk;
            freshLeft = chunksPerPage;
            return true;
        }

        private void add(SlabPage page) {
            pages.add(page);
            ordinals.set(page.ordinal);
        }

        void free(long chunk) {
            lock.lock();
            try {
                (leaving != null && isIn(leaving, chunk) ? idle : freed).offerLong(chunk);
            } finally {
                lock.unlock();
            }
        }

        private boolean isIn(SlabPage page, long chunk) {
            return chunk >= page.firstChunk && chunk < page.firstChunk + geometry.pageLength();
        }

        @Nullable
        SlabPage leave() {
            lock.lock();
            try {
                if (pages.size() < 2 || leaving != null) {
                    return null;
                }
                SlabPage page = pages.getFirst();
                if (!page.names.mayRetire()) {
                    return null;
                }
                leaving = page;
                for (int left = freed.size(); left > 0; left--) {
                    long chunk = freed.pollLong();
                    (isIn(page, chunk) ? idle : freed).offerLong(chunk);
                }
                if (unused.remove(page)) {
                    takeFresh(page.firstChunk, chunksPerPage);
                } else if (freshLeft > 0 && isIn(page, fresh)) {
                    takeFresh(fresh, freshLeft);
                    freshLeft = 0;
                }
                return page;
            } finally {
                lock.unlock();
            }
        }

        private void takeFresh(long first, int count) {
            for (int i = 0; i < count; i++) {
                idle.offerLong(first + (long) i * chunkLength);
            }
        }

        boolean isEmpty() {
            lock.lock();
            try {
                return idle.size() == chunksPerPage;
            } finally {
                lock.unlock();
            }
        }

        void stay() {
            lock.lock();
            try {
                while (idle.size() > 0) {
                    freed.offerLong(idle.pollLong());
                }
                leaving = null;
            } finally {
                lock.unlock();
            }
        }

        void forget(SlabPage page) {
            lock.lock();
            try {
                idle.clear();
                leaving = null;
                pages.remove(page);
                ordinals.clear(page.ordinal);
            } finally {
                lock.unlock();
            }
        }

        /** Takes a page that no class has, or leaves it to the pool. */
        void adopt(long firstChunk) {
            lock.lock();
            pageLock.lock();
            try {
                SlabPage page = cut(firstChunk, number, ordinals.nextClearBit(0));
                if (page == null) {
                    pool.offerLong(firstChunk);
                } else {
                    add(page);
                    unused.add(page);
                }
            } finally {
                pageLock.unlock();
                lock.unlock();
            }
        }

        SizeClassStatistics.Slab statistics() {
            lock.lock();
            try {
                int untouched = freshLeft + unused.size() * chunksPerPage;
                int free = freed.size() + idle.size();
                return new SizeClassStatistics.Slab(
                        chunkLength,
                        chunksPerPage,
                        pages.size(),
                        (long) pages.size() * chunksPerPage - free - untouched,
                        free,
                        untouched);
            } finally {
                lock.unlock();
            }
        }
    }
}
