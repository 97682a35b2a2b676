package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Configurations that a search need not enter again (Lowe 2017): known operations that took effect, the state, and the
 * unknown operations that took effect. One that used up more unknown operations than another of the same state can do
 * nothing that the other cannot. Single thread.
 */
final class SeenConfigurations {
    private final Map<Words, List<long[]>> usedUnknown = new HashMap<>();

    private static final class Words {
        private final long[] words;

        private Words(long[] words) {
            this.words = words;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Words that && Arrays.equals(words, that.words);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(words);
        }
    }

    /**
     * Adds a configuration.
     *
     * @param known the state and the known operations
     * @param unknown number and count of each kind of unknown operations, in order of the numbers
     * @return false if this one or a better one was there
     */
    boolean add(long[] known, long[] unknown) {
        List<long[]> before = usedUnknown.computeIfAbsent(new Words(known), words -> new ArrayList<>(1));
        for (long[] less : before) {
            if (isWithin(less, unknown)) {
                return false;
            }
        }
        before.add(unknown);
        return true;
    }

    private static boolean isWithin(long[] less, long[] more) {
        int i = 0;
        for (long word : less) {
            while (i < more.length && more[i] >>> Integer.SIZE < word >>> Integer.SIZE) {
                i++;
            }
            if (i == more.length || more[i] >>> Integer.SIZE != word >>> Integer.SIZE || more[i] < word) {
                return false;
            }
        }
        return true;
    }
}
