package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.peer.ChildJvm;

/** Memory of a child process, as a region of it is read and written. */
@EnabledOnOs(OS.LINUX)
class ForeignProcessTest {
    private static final int LENGTH = 100_000;
    private static final int EFAULT = 14;
    private static final int ESRCH = 3;

    /**
     * The child: shows where its memory is, and then what is in it.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(LENGTH);
            fill(memory, 1);
            System.out.println(memory.address());
            int ignored = System.in.read();
            System.out.println(sum(memory));
        }
    }

    private static void fill(MemorySegment memory, int first) {
        for (int i = 0; i < LENGTH; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (first + i));
        }
    }

    private static long sum(MemorySegment memory) {
        long sum = 0;
        for (int i = 0; i < LENGTH; i++) {
            sum = sum * 31 + memory.get(ValueLayout.JAVA_BYTE, i);
        }
        return sum;
    }

    @Test
    void shouldCopyFromAndToTheMemoryOfTheProcessThatOwnsTheRegion() throws IOException, InterruptedException {
        MemoryOperations operations = new MemoryOperations();
        Process child = new ProcessBuilder(ChildJvm.command(List.of(), ForeignProcessTest.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (Arena arena = Arena.ofConfined();
                BufferedReader says = child.inputReader()) {
            MemorySegment expected = arena.allocate(LENGTH);
            MemorySegment mine = arena.allocate(LENGTH);
            ForeignProcess process = new ForeignProcess(child.pid());
            Binding region = new Binding(new ForeignMemory(process, Long.parseLong(says.readLine()), LENGTH));

            assertTrue(operations.copyFrom(region, region.address(), mine.address(), LENGTH));
            fill(expected, 1);
            assertEquals(-1, expected.mismatch(mine));

            fill(mine, 7);
            assertTrue(operations.copyTo(mine.address(), region, region.address(), LENGTH));
            process.check(region.address());
            assertFalse(operations.copyFrom(region, Long.SIZE, mine.address(), 1));
            assertFalse(operations.copyTo(mine.address(), region, Long.SIZE, 1));
            SystemCallException unmapped = assertThrows(SystemCallException.class, () -> process.check(Long.SIZE));
            assertEquals(EFAULT, unmapped.errno());

            child.outputWriter().append('\n').close();
            fill(expected, 7);
            assertEquals(Long.toString(sum(expected)), says.readLine());
            assertEquals(0, child.waitFor());
            assertFalse(operations.copyFrom(region, region.address(), mine.address(), 1));
            SystemCallException ended = assertThrows(SystemCallException.class, () -> process.check(region.address()));
            assertEquals(ESRCH, ended.errno());
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void shouldCopyWithinThisProcessIfItOwnsTheRegion() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(LENGTH);
            MemorySegment other = arena.allocate(LENGTH);
            Binding region = new Binding(memory, AccessRights.LOCAL_WRITE);
            fill(memory, 3);
            assertTrue(new MemoryOperations().copyFrom(region, memory.address(), other.address(), LENGTH));
            assertEquals(-1, memory.mismatch(other));
        }
    }
}
