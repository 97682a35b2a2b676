package org.softrdma.sanitiser.watch;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The regions of a protection domain by their lkeys: all that are open, and the last 1024 that were closed, as long as
 * no other region got their key. Thread-safe.
 */
public final class RegionTable {
    private static final int CLOSED_KEPT = 1024;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Integer, RegionRecord> open = new LinkedHashMap<>();
    private final Map<Integer, RegionRecord> closed = new LinkedHashMap<>();

    /** Without regions. */
    public RegionTable() {}

    /** A region was registered. */
    public void opened(RegionRecord region) {
        lock.lock();
        try {
            closed.remove(region.lkey());
            open.put(region.lkey(), region);
        } finally {
            lock.unlock();
        }
    }

    /** A region is about to be closed, so that its key can be given to another one. */
    public void closed(RegionRecord region) {
        lock.lock();
        try {
            if (open.remove(region.lkey(), region)) {
                closed.put(region.lkey(), region);
                if (closed.size() > CLOSED_KEPT) {
                    closed.remove(closed.keySet().iterator().next());
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a local entry to a request that is not posted yet.
     *
     * @param request not posted yet
     * @param address first address
     * @param length bytes
     * @param lkey key of a region
     */
    void addTo(OutstandingRequest request, long address, long length, int lkey) {
        RegionRecord region = find(lkey);
        request.add(region, region == null ? 0 : address - region.address(), length);
    }

    /** The region that has a key, or had it last; null if none is known. */
    @Nullable
    RegionRecord find(int lkey) {
        lock.lock();
        try {
            RegionRecord region = open.get(lkey);
            return region == null ? closed.get(lkey) : region;
        } finally {
            lock.unlock();
        }
    }
}
