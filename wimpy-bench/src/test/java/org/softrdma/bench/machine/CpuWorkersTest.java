package org.softrdma.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class CpuWorkersTest {
    private static Set<Long> children() {
        return ProcessHandle.current()
                .children()
                .map(ProcessHandle::pid)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void shouldRunUntilTheyAreClosed() throws IOException {
        Set<Long> before = children();
        try (CpuWorkers workers = CpuWorkers.start(List.of(), 3)) {
            Set<Long> started = children();
            started.removeAll(before);
            assertEquals(3, started.size());
            assertTrue(workers.areAlive());
        }
        Set<Long> left = children();
        left.removeAll(before);
        assertEquals(Set.of(), left);
    }

    @Test
    void shouldLeaveNothingWhereTheyCannotStart() {
        Set<Long> before = children();
        assertThrows(IOException.class, () -> CpuWorkers.start(List.of("/no/such/program"), 2));
        assertEquals(before, children());
    }
}
