package org.softrdma.kv.server.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.store.ItemArena;
import org.softrdma.kv.store.RemotePage;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

class RegisteredChunksTest {
    private static final int LENGTH = 1 << 20;
    private static final int CHUNKS = 10;

    /** Rkeys that clients know stay good for as many bytes, and lead nowhere near the page. */
    @Test
    void shouldLetAPageMoveWithoutItsRkeys() {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                RegisteredChunks chunks = new RegisteredChunks(
                        device, domain, new MemorySource.Anonymous(), new SlabGeometry(1.25, 48, 1024), CHUNKS)) {
            ItemArena arena = chunks.create(LENGTH);
            RemotePage page = arena.cut(0, 96, CHUNKS).orElseThrow();
            long regions = chunks.regions();
            Set<Integer> known = new HashSet<>();
            for (int i = 0; i < CHUNKS; i++) {
                known.add(page.rkey(i));
                assertEquals(arena.memory().address() + i * 96L, chunks.address(first(page.rkey(i))));
            }
            assertTrue(page.retire());
            assertEquals(regions, chunks.regions());
            Set<Long> tombstones = new HashSet<>();
            for (int rkey : known) {
                tombstones.add(chunks.address(first(rkey)));
            }
            assertEquals(1, tombstones.size(), "all name one dead chunk");
            long offset = tombstones.iterator().next() - arena.memory().address();
            assertTrue(offset < 0 || offset >= LENGTH, "offset=" + offset);
            RemotePage next = arena.cut(0, 192, CHUNKS / 2).orElseThrow();
            for (int i = 0; i < CHUNKS / 2; i++) {
                assertTrue(known.add(next.rkey(i)), "an rkey of the old page");
                assertEquals(arena.memory().address() + i * 192L, chunks.address(first(next.rkey(i))));
            }
            assertEquals(regions + CHUNKS / 2, chunks.regions());
            assertFalse(next.mayRetire(), "there would be more tombstones than chunks");
            assertFalse(next.retire());
            assertEquals(arena.memory().address(), chunks.address(first(next.rkey(0))));
            assertTrue(arena.cut(2048, 96, 2 * CHUNKS).isPresent());
            assertTrue(next.mayRetire());
            assertTrue(next.retire());
        }
    }

    private static long first(int rkey) {
        return new Locator(rkey, 0, 96, 0, 1).first();
    }
}
