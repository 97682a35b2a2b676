package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.memory.NativeMemory;

/** The table of steering tags by itself; its memory is never touched, so any address will do. */
class StagTableTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_122L);

    private static final int DOMAIN = 7;
    private static final int RIGHT = AccessRights.REMOTE_READ;
    private static final long LENGTH = 256;
    private static final long FIRST_ADDRESS = 0x7000_0000_0000L;

    /** Rows that are kept free before one is used again. */
    private static final int RESTING_ROWS = 1024;

    private final SecureRandom secrets = secrets();
    private final List<StagTable> tables = new ArrayList<>();
    private long nextAddress = FIRST_ADDRESS;

    /** The same secrets in every run. */
    private static SecureRandom secrets() {
        try {
            SecureRandom random = SecureRandom.getInstance("SHA1PRNG");
            random.setSeed(SEED);
            return random;
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private StagTable table(int maxRows) {
        StagTable table = new StagTable(maxRows, secrets, new MemoryOperations(), NumberReuse.LATE);
        tables.add(table);
        return table;
    }

    /** A row of its own memory. */
    private int add(StagTable table) {
        nextAddress += LENGTH;
        return table.add(NativeMemory.segment(nextAddress, LENGTH), nextAddress, RIGHT, DOMAIN);
    }

    private static void remove(StagTable table, int row) {
        table.invalidate(row);
        table.free(row);
    }

    @AfterEach
    void close() {
        tables.forEach(StagTable::close);
    }

    @Test
    void shouldFindARowByItsKeysAndOnlyByThem() {
        StagTable table = table(10);
        int row = add(table);
        int other = add(table);
        assertNotEquals(row, other);
        assertEquals(row, table.findRemote(table.rkey(row)));
        assertEquals(row, table.findLocal(table.lkey(row)));
        assertEquals(other, table.findRemote(table.rkey(other)));
        assertEquals(other, table.findLocal(table.lkey(other)));
        assertEquals(-1, table.findRemote(table.lkey(row)), "an lkey is no rkey");
        assertEquals(-1, table.findLocal(table.rkey(row)), "an rkey is no lkey");
        assertEquals(2, table.live());
    }

    @Test
    void shouldTranslateFromTheBaseOfTheRow() {
        StagTable table = table(10);
        int row = table.add(NativeMemory.segment(FIRST_ADDRESS, LENGTH), 0, RIGHT, DOMAIN);
        assertEquals(FIRST_ADDRESS + 5, table.rawAddress(row, 5));
        assertEquals(5, table.offset(row, 5));
        int based = table.add(NativeMemory.segment(FIRST_ADDRESS, LENGTH), 0x1000, RIGHT, DOMAIN);
        assertEquals(FIRST_ADDRESS + 5, table.rawAddress(based, 0x1005));
        assertEquals(5, table.offset(based, 0x1005));
    }

    @Test
    void shouldCheckAccessAgainstTheRow() {
        StagTable table = table(10);
        int row = table.add(NativeMemory.segment(FIRST_ADDRESS, LENGTH), 0x1000, RIGHT, DOMAIN);
        assertEquals(AccessResult.GRANTED, table.check(row, DOMAIN, RIGHT, 0x1000, LENGTH));
        assertEquals(AccessResult.OUT_OF_BOUNDS, table.check(row, DOMAIN, RIGHT, 0x1001, LENGTH));
        assertEquals(AccessResult.ADDRESS_WRAP, table.check(row, DOMAIN, RIGHT, -1, LENGTH));
        assertEquals(AccessResult.NO_RIGHT, table.check(row, DOMAIN, AccessRights.REMOTE_WRITE, 0x1000, 1));
        assertEquals(AccessResult.WRONG_DOMAIN, table.check(row, DOMAIN + 1, RIGHT, 0x1000, 1));
        assertEquals(AccessResult.INVALID_STAG, table.check(-1, DOMAIN, RIGHT, 0x1000, 1));
    }

    /** Among so many rows some twenty pairs would be alike by chance: the table has to look. */
    @Test
    void shouldNeverHaveAKeyThatIsBothAnLkeyAndAnRkey() {
        int rows = 300_000;
        StagTable table = table(StagTable.MAX_ROWS);
        for (int i = 0; i < rows; i++) {
            assertEquals(i, add(table));
        }
        for (int row = 0; row < rows; row++) {
            assertEquals(row, table.findRemote(table.rkey(row)));
            assertEquals(row, table.findLocal(table.lkey(row)));
            assertEquals(-1, table.findLocal(table.rkey(row)), "an rkey is an lkey, seed " + SEED);
            assertEquals(-1, table.findRemote(table.lkey(row)), "an lkey is an rkey, seed " + SEED);
        }
        assertEquals(rows, table.live());
    }

    /** Zero says in a row that it is free; of so many tables a few name by it a row that they have but do not use. */
    @Test
    void shouldNeverFindAnythingByTheKeyZero() {
        for (int i = 0; i < 2048; i++) {
            try (StagTable table = new StagTable(1, secrets, new MemoryOperations(), NumberReuse.LATE)) {
                int row = add(table);
                assertEquals(-1, table.findRemote(0), "table " + i + ", seed " + SEED);
                assertEquals(-1, table.findLocal(0), "table " + i + ", seed " + SEED);
                assertTrue(table.rkey(row) != 0 && table.lkey(row) != 0);
            }
        }
    }

    @Test
    void shouldFindNothingByAKeyThatWasNeverGiven() {
        StagTable table = table(100);
        Map<Integer, Integer> rkeys = new HashMap<>();
        Map<Integer, Integer> lkeys = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            int row = add(table);
            rkeys.put(table.rkey(row), row);
            lkeys.put(table.lkey(row), row);
        }
        Random random = new Random(SEED);
        for (int i = 0; i < 1_000_000; i++) {
            int key = random.nextInt();
            assertEquals(rkeys.getOrDefault(key, -1), table.findRemote(key), () -> "rkey " + key + ", seed " + SEED);
            assertEquals(lkeys.getOrDefault(key, -1), table.findLocal(key), () -> "lkey " + key + ", seed " + SEED);
        }
    }

    @Test
    void shouldGiveOtherKeysOnAnotherDevice() {
        StagTable one = table(1000);
        StagTable other = table(1000);
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            keys.add(one.rkey(add(one)));
        }
        int alike = 0;
        for (int i = 0; i < 1000; i++) {
            alike += keys.contains(other.rkey(add(other))) ? 1 : 0;
        }
        assertEquals(0, alike, "seed " + SEED);
    }

    @Test
    void shouldRefuseKeysFromTheMomentTheyAreInvalid() {
        StagTable table = table(10);
        int row = add(table);
        int other = add(table);
        int rkey = table.rkey(row);
        int lkey = table.lkey(row);
        Binding binding = table.binding(row);
        assertTrue(binding.isAlive());
        table.invalidate(row);
        assertEquals(-1, table.findRemote(rkey));
        assertEquals(-1, table.findLocal(lkey));
        assertFalse(binding.isAlive());
        assertEquals(1, table.live());
        assertEquals(other, table.findRemote(table.rkey(other)), "the others stand");
        assertTrue(table.binding(other).isAlive());

        table.free(row);
        assertEquals(-1, table.findRemote(rkey));
        assertEquals(
                "row " + row + " is free",
                assertThrows(IllegalStateException.class, () -> table.binding(row))
                        .getMessage());
    }

    @Test
    void shouldBeFullAtItsMostRowsAndUntilOneIsFreed() {
        StagTable table = table(3);
        int first = add(table);
        add(table);
        add(table);
        assertEquals(-1, add(table));
        assertEquals(3, table.live(), "a row that was not added does not count");
        table.invalidate(first);
        assertEquals(-1, add(table), "an engine may still be at the invalid row");
        table.free(first);
        assertEquals(first, add(table));
        assertEquals(-1, add(table));
        assertEquals(3, table.live());
    }

    @Test
    void shouldUseRowsAgainInTheOrderInWhichTheyWereFreedWhenItIsFull() {
        StagTable table = table(8);
        for (int row = 0; row < 8; row++) {
            assertEquals(row, add(table));
        }
        int[] order = {5, 0, 7, 2};
        for (int row : order) {
            remove(table, row);
        }
        for (int row : order) {
            assertEquals(row, add(table));
        }
        assertEquals(-1, add(table));
    }

    /** A key that was just taken away should not come back soon, so rows rest while there are others. */
    @Test
    void shouldLetRowsRestWhileThereAreOthers() {
        StagTable table = table(10_000);
        int rows = RESTING_ROWS + 3;
        List<Integer> freed = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            freed.add(add(table));
        }
        Collections.shuffle(freed, new Random(SEED));
        freed.forEach(row -> remove(table, row));
        for (int i = 0; i < rows - RESTING_ROWS; i++) {
            assertEquals(freed.get(i), add(table), "more rows than have to rest");
        }
        assertEquals(rows, add(table), "a new row: the others rest");
        remove(table, rows);
        assertEquals(freed.get(rows - RESTING_ROWS), add(table), "the one that has rested longest");
    }

    @Test
    void shouldChangeTheKeysWithEachUseOfARow() {
        StagTable table = table(1);
        Set<Integer> rkeys = new HashSet<>();
        Set<Integer> lkeys = new HashSet<>();
        int uses = 256;
        for (int use = 0; use < uses; use++) {
            int row = add(table);
            assertEquals(0, row);
            for (int old : rkeys) {
                assertEquals(-1, table.findRemote(old), "an old rkey lives");
            }
            for (int old : lkeys) {
                assertEquals(-1, table.findLocal(old), "an old lkey lives");
            }
            rkeys.add(table.rkey(row));
            lkeys.add(table.lkey(row));
            assertEquals(row, table.findRemote(table.rkey(row)));
            remove(table, row);
        }
        assertEquals(uses, rkeys.size());
        assertEquals(uses, lkeys.size());
    }

    @Test
    void shouldExchangeTheMemoryOfTwoRowsAndNothingElse() {
        StagTable table = table(10);
        long mine = FIRST_ADDRESS;
        long theirs = FIRST_ADDRESS + 0x1000;
        int row = table.add(NativeMemory.segment(mine, LENGTH), 0, RIGHT, DOMAIN);
        int other = table.add(NativeMemory.segment(theirs, LENGTH), 0x500, RIGHT, DOMAIN);
        int rkey = table.rkey(row);
        Binding binding = table.binding(row);
        table.swap(row, other);
        assertEquals(theirs + 3, table.rawAddress(row, 3));
        assertEquals(mine + 3, table.rawAddress(other, 0x503));
        assertSame(binding, table.binding(other));
        assertEquals(mine, binding.address());
        assertTrue(binding.isAlive() && table.binding(row).isAlive(), "a swap ends nothing");
        assertEquals(rkey, table.rkey(row));
        assertEquals(row, table.findRemote(rkey));
        assertEquals(AccessResult.GRANTED, table.check(row, DOMAIN, RIGHT, 0, LENGTH), "the base stays");
        assertEquals(AccessResult.GRANTED, table.check(other, DOMAIN, RIGHT, 0x500, LENGTH));
        assertEquals(2, table.live());
    }

    @Test
    void shouldEndTheMemoryThatARowHasNowWhenItWasSwapped() {
        StagTable table = table(10);
        int row = add(table);
        int other = add(table);
        Binding mine = table.binding(row);
        Binding theirs = table.binding(other);
        table.swap(row, other);
        table.invalidate(row);
        assertFalse(theirs.isAlive());
        assertTrue(mine.isAlive());
        assertSame(mine, table.binding(other));
    }

    @Test
    void shouldKnowWhetherAnAddressIsOfTheMemoryThatARowHasNow() {
        StagTable table = table(10);
        int row = table.add(NativeMemory.segment(FIRST_ADDRESS, LENGTH), 0, RIGHT, DOMAIN);
        int other = table.add(NativeMemory.segment(FIRST_ADDRESS + LENGTH, LENGTH), 0, RIGHT, DOMAIN);
        assertSame(table.binding(row), table.bindingOf(row, FIRST_ADDRESS));
        assertSame(table.binding(row), table.bindingOf(row, FIRST_ADDRESS + LENGTH - 1));
        assertNull(table.bindingOf(row, FIRST_ADDRESS + LENGTH));
        assertNull(table.bindingOf(row, FIRST_ADDRESS - 1));
        table.swap(row, other);
        assertNull(table.bindingOf(row, FIRST_ADDRESS));
        assertSame(table.binding(row), table.bindingOf(row, FIRST_ADDRESS + LENGTH));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, StagTable.MAX_ROWS + 1, Integer.MIN_VALUE})
    void shouldRefuseASizeThatItCannotHave(int maxRows) {
        assertEquals(
                "maxRows=" + maxRows + ": expected 1 to 16777216",
                assertThrows(IllegalArgumentException.class, () -> table(maxRows))
                        .getMessage());
    }

    /** Random registrations, deregistrations and swaps against a plain map. */
    @Test
    void shouldAgreeWithAMapWhateverIsDone() {
        int maxRows = 1500;
        Model model = new Model(table(maxRows), maxRows);
        Random random = new Random(SEED);
        for (int step = 0; step < 60_000; step++) {
            // Grows to full, shrinks to a third, and again.
            boolean growing = step / 5000 % 2 == 0;
            int choice = random.nextInt(10);
            if (choice < (growing ? 6 : 2)) {
                model.add(random);
            } else if (choice < 8) {
                model.remove(random);
            } else if (choice == 8) {
                model.swap(random);
            } else {
                model.freeResting();
            }
            if (step % 1000 == 0) {
                model.check(step);
            }
        }
        assertTrue(model.fullOnce, "the model never came to a full table, seed " + SEED);
    }

    /** What the table should be. */
    private final class Model {
        private final StagTable table;
        private final int maxRows;
        private final Map<Integer, Region> live = new HashMap<>();
        private final List<Integer> rows = new ArrayList<>();
        private final List<Integer> resting = new ArrayList<>();
        private final Set<Integer> oldKeys = new HashSet<>();
        private boolean fullOnce;

        Model(StagTable table, int maxRows) {
            this.table = table;
            this.maxRows = maxRows;
        }

        void add(Random random) {
            nextAddress += LENGTH;
            long base = random.nextBoolean() ? 0 : nextAddress;
            int rights = random.nextInt(8);
            int domain = random.nextInt(3);
            int row = table.add(NativeMemory.segment(nextAddress, LENGTH), base, rights, domain);
            if (live.size() + resting.size() == maxRows) {
                fullOnce = true;
                assertEquals(-1, row, () -> "seed " + SEED);
                return;
            }
            assertFalse(resting.contains(row), () -> "an invalid row is used before it is free, seed " + SEED);
            assertNull(
                    live.put(row, new Region(table.rkey(row), table.lkey(row), nextAddress, base, rights, domain)),
                    () -> "a live row is used again, seed " + SEED);
            rows.add(row);
        }

        void remove(Random random) {
            if (rows.isEmpty()) {
                return;
            }
            int row = take(random);
            Region region = live.remove(row);
            table.invalidate(row);
            resting.add(row);
            if (region != null) {
                oldKeys.add(region.rkey);
                oldKeys.add(region.lkey);
            }
        }

        void freeResting() {
            resting.forEach(table::free);
            resting.clear();
        }

        void swap(Random random) {
            if (rows.size() < 2) {
                return;
            }
            int row = take(random);
            int other = take(random);
            table.swap(row, other);
            Region mine = region(row);
            Region theirs = region(other);
            live.put(row, mine.at(theirs.address));
            live.put(other, theirs.at(mine.address));
            rows.add(row);
            rows.add(other);
        }

        private Region region(int row) {
            Region region = live.get(row);
            if (region == null) {
                throw new AssertionError("row " + row);
            }
            return region;
        }

        /** Takes a live row off the list. */
        private int take(Random random) {
            Collections.swap(rows, random.nextInt(rows.size()), rows.size() - 1);
            return rows.removeLast();
        }

        void check(int step) {
            String when = "step " + step + ", seed " + SEED;
            assertEquals(live.size(), table.live(), when);
            Map<Integer, Integer> rkeys = new HashMap<>();
            Map<Integer, Integer> lkeys = new HashMap<>();
            live.forEach((row, region) -> {
                rkeys.put(region.rkey, row);
                lkeys.put(region.lkey, row);
                assertEquals(row, table.findRemote(region.rkey), when);
                assertEquals(row, table.findLocal(region.lkey), when);
                assertEquals(region.address + 9, table.rawAddress(row, region.base + 9), when);
                assertEquals(region.address, table.binding(row).address(), when);
                assertTrue(table.binding(row).isAlive(), when);
                assertEquals(
                        AccessResult.GRANTED,
                        table.check(row, region.domain, region.rights, region.base, LENGTH),
                        when);
            });
            assertEquals(live.size(), rkeys.size(), when);
            assertEquals(live.size(), lkeys.size(), when);
            for (int key : oldKeys) {
                assertEquals(rkeys.getOrDefault(key, -1), table.findRemote(key), when);
                assertEquals(lkeys.getOrDefault(key, -1), table.findLocal(key), when);
            }
        }

        private record Region(int rkey, int lkey, long address, long base, int rights, int domain) {
            Region at(long newAddress) {
                return new Region(rkey, lkey, newAddress, base, rights, domain);
            }
        }
    }
}
