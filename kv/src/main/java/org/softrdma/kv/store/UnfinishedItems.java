package org.softrdma.kv.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Items whose values have begun to come and whose owners wait for the rest. Their chunks hold up to a page each for a
 * client that may have sent one byte and gone, so all of them together get no more than half of the memory limit:
 * beyond it the one is given up that holds the most memory for the bytes that have come, after any that have not gone
 * on for {@link #STALE_SECONDS}. So clients that stop in the middle of a value, or send it byte by byte, make room for
 * those that go on. A class that has no other memory takes from those that have not gone on as well.
 *
 * <p>An item is here only while its owner does not touch its chunk: the owner takes it out before it copies more bytes.
 * Rejected: to gather values elsewhere until they are whole, which copies every large value twice and holds as much
 * memory. Any thread; a short lock.
 */
final class UnfinishedItems {
    /** A client that goes on sends something in that time. */
    static final int STALE_SECONDS = 2;

    /** The part of the memory limit that they may hold. */
    private static final int SHARE = 2;

    private final SlabAllocator slabs;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<NewItem> items = new ArrayList<>();
    private long bytes;

    UnfinishedItems(SlabAllocator slabs) {
        this.slabs = slabs;
    }

    /** See {@link ItemStore#await}. */
    void await(NewItem item, int received, long nowSeconds) {
        add(item, received, nowSeconds);
        for (NewItem given = excess(nowSeconds); given != null; given = excess(nowSeconds)) {
            slabs.free(given.chunk);
        }
    }

    private void add(NewItem item, int received, long nowSeconds) {
        lock.lock();
        try {
            item.awaits(received, nowSeconds, items.size());
            items.add(item);
            bytes += chunkLength(item);
        } finally {
            lock.unlock();
        }
    }

    /** See {@link ItemStore#goOn}. */
    boolean goOn(NewItem item) {
        lock.lock();
        try {
            if (item.place() == NewItem.NOWHERE) {
                return false;
            }
            remove(item);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives up an item of a class that nobody goes on with; false if there is none.
     *
     * @param sizeClass that needs a chunk
     */
    boolean giveUpStale(int sizeClass, long nowSeconds) {
        return giveUpStale(page -> page.sizeClass == sizeClass, nowSeconds);
    }

    /** Gives up an item of a page that nobody goes on with; false if there is none. */
    boolean giveUpStale(SlabPage page, long nowSeconds) {
        return giveUpStale(each -> each == page, nowSeconds);
    }

    private boolean giveUpStale(Predicate<SlabPage> where, long nowSeconds) {
        NewItem given = null;
        lock.lock();
        try {
            for (int i = 0; i < items.size() && given == null; i++) {
                NewItem item = items.get(i);
                if (isStale(item, nowSeconds) && where.test(slabs.page(item.chunk))) {
                    given = giveUp(item);
                }
            }
        } finally {
            lock.unlock();
        }
        if (given != null) {
            slabs.free(given.chunk);
        }
        return given != null;
    }

    /** Takes out an item that is to be given up, if they hold too much; a single one may. */
    private @Nullable NewItem excess(long nowSeconds) {
        lock.lock();
        try {
            if (bytes <= slabs.memoryLimit() / SHARE || items.size() < 2) {
                return null;
            }
            NewItem worst = items.getFirst();
            for (NewItem item : items) {
                worst = cost(item, nowSeconds) > cost(worst, nowSeconds) ? item : worst;
            }
            return giveUp(worst);
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of memory for each byte that has come. */
    private long cost(NewItem item, long nowSeconds) {
        return isStale(item, nowSeconds) ? Long.MAX_VALUE : chunkLength(item) / (1 + item.received());
    }

    private static boolean isStale(NewItem item, long nowSeconds) {
        return nowSeconds - item.awaitedSince() >= STALE_SECONDS;
    }

    private int chunkLength(NewItem item) {
        return slabs.page(item.chunk).chunkLength;
    }

    private NewItem giveUp(NewItem item) {
        remove(item);
        item.end();
        return item;
    }

    /** The last one takes its place. */
    private void remove(NewItem item) {
        NewItem last = items.removeLast();
        if (last != item) {
            items.set(item.place(), last);
            last.moved(item.place());
        }
        item.moved(NewItem.NOWHERE);
        bytes -= chunkLength(item);
    }
}
