package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.VerbsException;

/** A process of its own that may lock 8 MiB, and is not allowed more by a capability. */
class LockedMemoryLimitTest {
    private static final int LIMIT = 8 << 20;
    private static final int LENGTH = 64 << 20;
    private static final int BUDGET = 4 << 20;
    private static final int PIECE = 100_003;

    @Test
    void shouldFailReadablyWhenEagerAndServeEveryByteWhenLazy() throws Exception {
        List<String> output = runLimited();

        assertTrue(
                output.getFirst().startsWith("EAGER: NO_RESOURCES cannot pin " + LENGTH + " bytes (EAGER)"),
                output::toString);
        assertTrue(output.getFirst().contains("RLIMIT_MEMLOCK is " + LIMIT + " bytes"), output::toString);
        assertTrue(output.getFirst().contains("ulimit -l " + (LENGTH / 1024)), output::toString);
        assertEquals("LAZY: all " + LENGTH + " bytes, most pinned " + BUDGET, output.get(1));
    }

    private static List<String> runLimited() throws InterruptedException {
        List<String> limited = new ArrayList<>(List.of("prlimit", "--memlock=" + LIMIT + ":" + LIMIT));
        if (KernelPageLocks.find().limitBytes() == PageLocks.UNLIMITED) {
            limited.addAll(List.of("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"));
        }
        Assumptions.assumeTrue(works(limited), "prlimit or setpriv does not work here: " + limited);
        ChildJvm.Outcome child = ChildJvm.run(limited, List.of("-Xmx128m"), LockedMemoryLimitTest.class);
        assertEquals(0, child.exitCode(), child::toString);
        return child.lines().stream()
                .filter(line -> line.startsWith("EAGER: ") || line.startsWith("LAZY: "))
                .toList();
    }

    private static boolean works(List<String> command) throws InterruptedException {
        List<String> trial = new ArrayList<>(command);
        trial.add("true");
        try {
            Process process =
                    new ProcessBuilder(trial).redirectErrorStream(true).start();
            process.getInputStream().readAllBytes();
            return process.waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * The limited process: prints how EAGER fails and what LAZY serves.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (PinnedPair pair = new PinnedPair("pinning", "lazy", "pin-budget", "" + BUDGET);
                HostMemory memory = pair.server().device().allocateMemory(LENGTH)) {
            MemorySegment segment = memory.segment();
            for (int i = 0; i < LENGTH; i++) {
                segment.set(ValueLayout.JAVA_BYTE, i, (byte) ((i * 31) >>> 7));
            }
            try {
                pair.server()
                        .domain()
                        .register(segment, Set.of(AccessFlag.REMOTE_READ), PinningPolicy.EAGER)
                        .close();
                System.out.println("EAGER: no error");
            } catch (VerbsException e) {
                System.out.println("EAGER: " + e.code() + " " + e.getMessage());
            }
            MemoryRegion region = pair.server().domain().register(segment, Set.of(AccessFlag.REMOTE_READ));
            long right = 0;
            for (long offset = 0; offset < LENGTH; offset += PIECE) {
                long length = Math.min(PIECE, LENGTH - offset);
                if (pair.read(region, offset, length) == CompletionStatus.SUCCESS
                        && segment.asSlice(offset, length)
                                        .mismatch(pair.received().asSlice(0, length))
                                < 0) {
                    right += length;
                }
            }
            System.out.println("LAZY: " + (right == LENGTH ? "all " : "only ") + right + " bytes, most pinned "
                    + region.pinningCounters().highWaterBytes());
            region.close();
        }
        System.exit(0);
    }
}
