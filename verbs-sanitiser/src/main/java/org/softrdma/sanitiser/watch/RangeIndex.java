package org.softrdma.sanitiser.watch;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ranges of addresses, each with a value, to be found by a range that they overlap.
 *
 * <p>They are ordered by their start. A search begins as far in front of its range as the longest one reaches, so few
 * long ranges among many short ones make it slow, and nothing wrong. Under the owner's lock.
 */
final class RangeIndex<T> {
    private final TreeMap<Key, Entry<T>> byStart = new TreeMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private long longest;

    private record Key(long start, long number) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int order = Long.compare(start, other.start);
            return order == 0 ? Long.compare(number, other.number) : order;
        }
    }

    private record Entry<T>(long end, T value) {}

    /** Adds a range and returns what removes it. */
    Runnable add(long start, long length, T value) {
        Key key = new Key(start, numbers.getAndIncrement());
        byStart.put(key, new Entry<>(start + length, value));
        longest = Math.max(longest, length);
        return () -> {
            byStart.remove(key);
            if (byStart.isEmpty()) {
                longest = 0;
            }
        };
    }

    /** The values of all ranges that have a byte in common with this one. */
    List<T> overlapping(long start, long length) {
        List<T> found = new ArrayList<>();
        byStart.subMap(new Key(start - longest, 0), new Key(start + length, 0)).forEach((key, entry) -> {
            if (entry.end > start) {
                found.add(entry.value);
            }
        });
        return found;
    }
}
