package org.softrdma.farm.table;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.softrdma.stores.Outcome;

/**
 * A lookup beside one removal that collapses a chain, in every order: the removal happens at one instant, before any
 * READ of the lookup or behind the last one. The paper gives the last block another incarnation, or frees it; that is
 * enough for chains of one block. The key that is looked for is there all the time.
 */
class ChainHoleTest {
    private static final int VALUE = 8;
    private static final int MOST_KEYS = 9;
    private static final int MOST_READS = 6;

    /** True if a key that stays is missed, in some order, while another is removed. */
    private static boolean isMissed(boolean mended, boolean inline, int keys) {
        boolean missed = false;
        for (int removed = 0; removed < keys; removed++) {
            for (int sought = 0; sought < keys; sought++) {
                for (int before = 0; before < MOST_READS && sought != removed; before++) {
                    missed |= isMissed(filled(mended, inline, keys), removed, sought, before);
                }
            }
        }
        return missed;
    }

    /** All keys have one home: two buckets of one slot, and a chain. */
    private static TestTable filled(boolean mended, boolean inline, int keys) {
        TableShape shape = inline ? TestTable.inline(2, VALUE, true, 1) : TestTable.outline(2, true, 1);
        TestTable table = new TestTable(shape, 1 << 14, 1024, mended);
        for (int number = 0; number < keys; number++) {
            table.put(TestTable.keyOf(number), TestTable.valueOf(number, VALUE));
        }
        return table;
    }

    private static boolean isMissed(TestTable table, int removed, int sought, int before) {
        boolean[] done = new boolean[1];
        table.beforeRead(read -> {
            if (read == before && !done[0]) {
                done[0] = true;
                assertTrue(table.remove(TestTable.keyOf(removed)) == Outcome.REMOVED);
            }
        });
        while (true) {
            try {
                return table.get(TestTable.keyOf(sought)) == null;
            } catch (TestTable.Restart e) {
                table.beforeRead(read -> {}); // the lookup begins again
            }
        }
    }

    @Test
    void shouldMissAKeyBehindARemovalFromALongChainAsPublished() {
        assertTrue(isMissed(false, true, 5), "the published collapse of a chain passes: the mended one is not needed");
    }

    @Test
    void shouldMissNoKeyInAChainOfOneBlockAsPublished() {
        assertFalse(isMissed(false, true, 3));
        assertFalse(isMissed(false, true, 4));
    }

    @Test
    void shouldMissNoKeyWhenMended() {
        for (int keys = 2; keys <= MOST_KEYS; keys++) {
            assertFalse(isMissed(true, true, keys), keys + " keys inline");
            assertFalse(isMissed(true, false, keys), keys + " keys outside");
        }
    }
}
