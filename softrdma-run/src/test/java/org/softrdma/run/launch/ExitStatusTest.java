package org.softrdma.run.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ExitStatusTest {
    @Test
    void shouldBeAsShellsTellIt() {
        assertEquals(0, ExitStatus.ofWait(0));
        assertEquals(3, ExitStatus.ofWait(0x0300));
        assertEquals(255, ExitStatus.ofWait(0xFF00));
        assertEquals(128 + 9, ExitStatus.ofWait(9));
        assertEquals(128 + 11, ExitStatus.ofWait(0x80 | 11)); // with a core dump
    }

    @Test
    void shouldSayWhyThereIsNoFilter() {
        assertTrue(SeccompRefusal.sentence(16).contains("another softrdma run"));
        assertTrue(SeccompRefusal.sentence(1).contains("profile"));
        assertTrue(SeccompRefusal.sentence(38).contains("5.14"));
        assertTrue(SeccompRefusal.sentence(12).contains("errno 12"));
    }
}
