package org.softrdma.sim.pinning;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Locked granules, least recently used first.
 *
 * <p>Algorithm: a set ordered by the tick under which a granule was queued. Engines record later uses without touching
 * the set, so the head may have been used since; then it goes back under its newer tick. Ticks only grow, so the first
 * head whose tick is still current has the oldest of all. Rejected: moving a granule on each use, at the cost of the
 * warm path.
 *
 * <p>Not thread-safe: under {@link PinTable}'s lock.
 */
final class EvictionQueue {
    private final GranuleMap map;
    private final TreeSet<Granule> queue =
            new TreeSet<>(Comparator.<Granule>comparingLong(granule -> granule.queuedTick)
                    .thenComparingLong(granule -> granule.number));
    private final List<Granule> passedOver = new ArrayList<>();

    /**
     * An empty queue.
     *
     * @param map knows the last uses
     */
    EvictionQueue(GranuleMap map) {
        this.map = map;
    }

    /** Adds a granule that has locked pages, unless it is queued already. */
    void add(Granule granule) {
        if (!granule.queued) {
            granule.queued = true;
            granule.queuedTick = map.lastUse(granule.number);
            queue.add(granule);
        }
    }

    /** Removes a granule. */
    void remove(Granule granule) {
        if (granule.queued) {
            queue.remove(granule);
            granule.queued = false;
        }
    }

    /** Removes and returns the least recently used granule that may be evicted; null if there is none. */
    @Nullable
    Granule poll(Predicate<Granule> mayGo) {
        Granule found = null;
        while (found == null && !queue.isEmpty()) {
            Granule head = queue.removeFirst();
            long used = map.lastUse(head.number);
            if (used > head.queuedTick) {
                head.queuedTick = used;
                queue.add(head);
            } else if (mayGo.test(head)) {
                found = head;
                found.queued = false;
            } else {
                passedOver.add(head);
            }
        }
        queue.addAll(passedOver);
        passedOver.clear();
        return found;
    }
}
