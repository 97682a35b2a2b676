package org.softrdma.kv.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class HandedBuffersTest {
    private final HandedBuffers handed = new HandedBuffers();

    @Test
    void shouldCountTheWholeOfEveryBufferOfWhichSomethingIsLeft() {
        handed.add(40, 512);
        handed.add(17_000, 0); // a value that was not copied
        handed.add(42, 512);
        handed.add(100, 65_536);
        long all = 40 + 17_000 + 42 + 100;
        assertEquals(512 + 512 + 65_536, handed.capacityOf(all));
        assertEquals(512 + 512 + 65_536, handed.capacityOf(all - 39));
        assertEquals(512 + 65_536, handed.capacityOf(all - 40));
        assertEquals(512 + 65_536, handed.capacityOf(143));
        assertEquals(512 + 65_536, handed.capacityOf(101));
        assertEquals(65_536, handed.capacityOf(100));
        assertEquals(0, handed.capacityOf(0));
    }

    @Test
    void shouldGoOnForEver() {
        for (int i = 0; i < 1000; i++) {
            handed.add(10, 512);
            assertEquals(512L * Math.min(i + 1, 20), handed.capacityOf(200));
        }
        assertEquals(0, handed.capacityOf(0));
        handed.add(10, 512);
        assertEquals(512, handed.capacityOf(10));
    }
}
