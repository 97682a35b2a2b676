package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

class EntryTableTest {
    private static final int SLOTS = 4;
    private static final int MAX_ENTRIES = 3;

    private final EntryTable table = new EntryTable(SLOTS, MAX_ENTRIES);
    private final SendWorkRequest request = new SendWorkRequest();

    private SendWorkRequest request() {
        return request.send(1, SendFlags.NONE);
    }

    @Test
    void shouldKeepTheEntriesOfEachSlotApart() {
        for (int slot = 0; slot < SLOTS; slot++) {
            SendWorkRequest full = request();
            for (int entry = 0; entry < MAX_ENTRIES; entry++) {
                full.add(1000L * slot + entry, 10L * slot + entry, -(100 * slot + entry));
            }
            table.set(slot, full.local());
        }
        for (int slot = 0; slot < SLOTS; slot++) {
            assertEquals(MAX_ENTRIES, table.count(slot));
            assertEquals(3 * 10L * slot + 3, table.total(slot));
            for (int entry = 0; entry < MAX_ENTRIES; entry++) {
                assertEquals(1000L * slot + entry, table.address(slot, entry));
                assertEquals(10L * slot + entry, table.length(slot, entry));
                assertEquals(-(100 * slot + entry), table.lkey(slot, entry));
            }
        }
    }

    @Test
    void shouldForgetTheEntriesOfTheRequestBefore() {
        table.set(2, request().add(1, 10, 1).add(2, 20, 2).add(3, 30, 3).local());
        table.set(2, request().add(4, 40, 5).local());
        assertEquals(1, table.count(2));
        assertEquals(40, table.total(2));
        assertEquals(4, table.address(2, 0));
        assertEquals(5, table.lkey(2, 0));
        table.set(2, request().local());
        assertEquals(0, table.count(2));
        assertEquals(0, table.total(2));
    }

    /** Lengths have 64 bits: more than a message can have is refused later, by the sum. */
    @Test
    void shouldSumWithoutWrapping() {
        table.set(0, request().add(0, 0xFFFF_FFFFL, 0).add(0, 1, 0).local());
        assertEquals(0x1_0000_0000L, table.total(0));
        table.set(0, request().add(0, Long.MAX_VALUE, 0).add(0, 1, 0).local());
        assertEquals(Long.MAX_VALUE, table.total(0));
    }
}
