package org.softrdma.run.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxKernel;

/** Descriptors of this process, as a program has them. */
@EnabledOnOs(OS.LINUX)
class OurFilesTest {
    private static final int NO_LISTENER = -1;
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 1_000;
    private static final int MEASURED = 1_000;
    /** What the JDK makes for a call that keeps its errno, where the compiler does not do away with it. */
    private static final int CALL_BYTES = 40;

    private final Arena arena = Arena.ofAuto();
    private final LinuxKernel kernel =
            new LinuxKernel(Architecture.named(System.getProperty("os.arch")).orElseThrow(), NO_LISTENER, arena);
    private final MemorySegment link = arena.allocate(OurFiles.LINK_LENGTH);
    private final int process = (int) ProcessHandle.current().pid();

    private int serialOf(String name) {
        int file = kernel.createFile(name, new byte[0]);
        assertTrue(file >= 0);
        try {
            return OurFiles.serialOf(kernel, process, file, link);
        } finally {
            kernel.close(file);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "softrdma:/dev/infiniband/uverbs0#1, 1",
        "softrdma:/dev/infiniband/uverbs0#90210, 90210",
        "softrdma:/dev/infiniband/uverbs0, -1",
        "softrdma:/dev/infiniband/uverbs0#, -1",
        "softrdma:/dev/infiniband/uverbs0#1x2, -1",
        "softrdma:12, -1",
        "another:/dev/infiniband/uverbs0#1, -1",
    })
    void shouldKnowADescriptorByItsName(String name, int serial) {
        assertEquals(serial, serialOf(name));
    }

    @Test
    void shouldKnowNothingOfADescriptorThatIsClosed() {
        assertEquals(OurFiles.NO_SERIAL, OurFiles.serialOf(kernel, process, 1_000_000, link));
        assertEquals(OurFiles.NO_SERIAL, OurFiles.serialOf(kernel, process, -1, link));
        assertEquals(OurFiles.NO_SERIAL, OurFiles.serialOf(kernel, process, Integer.MIN_VALUE, link));
    }

    /** Each doorbell asks. In one round at least: the compiler has to be through. */
    @Test
    void shouldMakeNoObjectToKnowADescriptor() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int file = kernel.createFile(OurFiles.name("/dev/infiniband/uverbs0", 1234), new byte[0]);
        try {
            long least = Long.MAX_VALUE;
            for (int i = 0; i < WARM_UP; i++) {
                assertEquals(1234, OurFiles.serialOf(kernel, process, file, link));
            }
            for (int round = 0; round < ROUNDS && least > (CALL_BYTES + 1L) * MEASURED; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                int sum = 0;
                for (int i = 0; i < MEASURED; i++) {
                    sum += OurFiles.serialOf(kernel, process, file, link);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                assertEquals(1234 * MEASURED, sum);
            }
            assertTrue(least <= (CALL_BYTES + 1L) * MEASURED, least + " bytes");
        } finally {
            kernel.close(file);
        }
    }
}
