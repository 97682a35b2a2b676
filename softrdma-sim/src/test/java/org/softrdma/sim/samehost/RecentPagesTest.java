package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RecentPagesTest {
    private static final int PAGE = 4096;
    private static final int RKEY = 0x1234_5678;
    private static final long ADDRESS = 0x7F00_1234_5000L;
    /** Of pages. */
    private static final int CACHE_BYTES = 2 << 20;

    private final RecentPages pages = new RecentPages();

    @Test
    void shouldKnowWhatFitsIntoACache() {
        for (long at = ADDRESS; at < ADDRESS + CACHE_BYTES; at += PAGE) {
            assertFalse(pages.isRecent(RKEY, at));
        }
        for (long at = ADDRESS; at < ADDRESS + CACHE_BYTES; at += PAGE) {
            assertTrue(pages.isRecent(RKEY, at + PAGE - 1));
        }
        assertFalse(pages.isRecent(RKEY, ADDRESS + CACHE_BYTES));
        assertFalse(pages.isRecent(RKEY, ADDRESS), "it has lost its place");
    }

    /** As with a key for each item. */
    @Test
    void shouldTellRegionsApart() {
        assertFalse(pages.isRecent(0, 0), "none was read at first");
        for (int rkey = RKEY; rkey < RKEY + 100; rkey++) {
            assertFalse(pages.isRecent(rkey, 0));
            assertFalse(pages.isRecent(~rkey, PAGE));
        }
        for (int rkey = RKEY; rkey < RKEY + 100; rkey++) {
            assertTrue(pages.isRecent(rkey, 0));
            assertTrue(pages.isRecent(~rkey, PAGE));
        }
    }
}
