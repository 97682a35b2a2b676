package org.softrdma.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LoopbackTrafficTest {
    @Test
    void shouldReadTheKernelsTable() {
        String table = """
                Inter-|   Receive                                                |  Transmit
                 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
                  eth0: 1000     10    0    0    0     0          0         0     2000      20    0
                    lo:123456789 4321    0    0    0     0          0         0 123456789    4321    0
                """;
        assertEquals(
                new LoopbackTraffic(4321, 123_456_789),
                LoopbackTraffic.parse(table).orElseThrow());
        assertTrue(LoopbackTraffic.parse("nothing\n").isEmpty());
    }
}
