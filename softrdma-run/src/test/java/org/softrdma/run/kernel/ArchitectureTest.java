package org.softrdma.run.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A full heap loses no call that was received: to find out which it is makes no object. */
@EnabledOnOs(OS.LINUX)
class ArchitectureTest {
    /** Fewer than are compiled, which makes fewer objects. */
    private static final int CALLS = 100;

    private static final int ROUNDS = 3;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Bytes of the round that made the fewest: the first one loads classes. */
    private long fewestBytes(Runnable call) {
        long fewest = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
            fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return fewest;
    }

    @Test
    void shouldFindACallByItsNumberWithoutAnObject() {
        for (Architecture each : Architecture.values()) {
            for (LinuxCall call : LinuxCall.values()) {
                if (each.has(call)) {
                    assertSame(call, each.call(each.number(call)));
                    assertEquals(0, fewestBytes(() -> each.call(each.number(call))), call::name);
                }
            }
            assertNull(each.call(-1));
            assertNull(each.call(1000));
        }
    }
}
