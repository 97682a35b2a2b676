package org.softrdma.stores.nessie.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The least recently used goes first. */
class NessieCacheTest {
    private static final int KEYS = 100_000;
    private static final int PLACES = KEYS / 100;
    private static final int GETS = 1_000_000;
    private static final double TOLERANCE = 0.01;

    private final MemorySegment entry = MemorySegment.ofArray(new long[1]);

    private void add(NessieCache cache, long name) {
        entry.set(ValueLayout.JAVA_LONG, 0, ~name);
        cache.add(name, entry, 0);
    }

    private static long kept(NessieCache cache, long name) {
        int place = cache.find(name);
        assertNotEquals(NessieCache.NONE, place);
        return cache.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, cache.at(place));
    }

    @Test
    void shouldForgetTheLeastRecentlyUsed() {
        NessieCache cache = new NessieCache(3, Long.BYTES);
        for (long name = 1; name <= 3; name++) {
            add(cache, name);
        }
        assertEquals(~1L, kept(cache, 1));
        add(cache, 4);
        assertEquals(NessieCache.NONE, cache.find(2));
        for (long name : new long[] {1, 3, 4}) {
            assertEquals(~name, kept(cache, name));
        }
        add(cache, 4);
        add(cache, 5);
        assertEquals(NessieCache.NONE, cache.find(1));
        assertEquals(~3L, kept(cache, 3));
        cache.clear();
        assertEquals(NessieCache.NONE, cache.find(3));
        add(cache, 6);
        assertEquals(~6L, kept(cache, 6));
    }

    @Test
    void shouldKeepNothingWithoutPlaces() {
        NessieCache cache = new NessieCache(0, Long.BYTES);
        add(cache, 1);
        assertEquals(NessieCache.NONE, cache.find(1));
    }

    /**
     * Che's approximation: a key stays for the time T in which as many different keys are asked for as there are
     * places.
     */
    @ParameterizedTest
    @ValueSource(doubles = {0.7, 0.9})
    void shouldHitAsOftenAsChesApproximationSays(double skew) {
        double[] shares = zipf(skew);
        NessieCache cache = new NessieCache(PLACES, Long.BYTES);
        SplittableRandom random = new SplittableRandom(1);
        double[] sums = shares.clone();
        Arrays.parallelPrefix(sums, Double::sum);
        int hits = 0;
        for (int i = -GETS / 5; i < GETS; i++) {
            int found = Arrays.binarySearch(sums, random.nextDouble());
            long key = found < 0 ? ~found : found;
            if (cache.find(key) == NessieCache.NONE) {
                add(cache, key);
            } else if (i >= 0) {
                hits++;
            }
        }
        double rate = (double) hits / GETS;
        double expected = che(shares);
        System.out.printf(Locale.ROOT, "Zipf %.1f: hit rate %.4f, by Che %.4f%n", skew, rate, expected);
        assertEquals(expected, rate, TOLERANCE);
    }

    private static double[] zipf(double skew) {
        double[] shares = new double[KEYS];
        double sum = 0;
        for (int i = 0; i < KEYS; i++) {
            shares[i] = Math.pow(i + 1.0, -skew);
            sum += shares[i];
        }
        for (int i = 0; i < KEYS; i++) {
            shares[i] /= sum;
        }
        return shares;
    }

    private static double che(double[] shares) {
        double low = 0;
        double high = 1e9;
        for (int i = 0; i < 100; i++) {
            double middle = (low + high) / 2;
            double there = 0;
            for (double share : shares) {
                there -= Math.expm1(-share * middle);
            }
            if (there < PLACES) {
                low = middle;
            } else {
                high = middle;
            }
        }
        double hits = 0;
        for (double share : shares) {
            hits -= share * Math.expm1(-share * low);
        }
        return hits;
    }
}
