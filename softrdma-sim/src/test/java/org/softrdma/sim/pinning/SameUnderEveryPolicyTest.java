package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;

/** One seeded workload gives the same memory and the same completions however the server pins. */
class SameUnderEveryPolicyTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 4_711L);
    private static final Set<AccessFlag> ACCESS =
            Set.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private static final int GRANULE = PinningSettings.DEFAULT_GRANULE;
    private static final int LENGTH = 16 * GRANULE;
    private static final int STEPS = 600;
    private static final int LONGEST = 700_000;
    /** Every so many steps one asks for more than there is. */
    private static final int MISTAKE = 97;

    private static List<String> outcome(long seed, String... options) {
        List<String> log = new ArrayList<>();
        Random random = new Random(seed);
        try (PinnedPair pair = new PinnedPair(options);
                HostMemory memory = pair.server().device().allocateMemory(LENGTH)) {
            byte[] content = new byte[LENGTH];
            random.nextBytes(content);
            MemorySegment.copy(content, 0, memory.segment(), ValueLayout.JAVA_BYTE, 0, LENGTH);
            MemoryRegion region = pair.server().domain().register(memory.segment(), ACCESS);
            for (int step = 1; step <= STEPS; step++) {
                long offset = random.nextLong(LENGTH);
                long length = Math.min(LENGTH - offset, 1 + random.nextInt(LONGEST));
                boolean writes = random.nextBoolean();
                log.add(step + " "
                        + (writes ? pair.write(region, offset, length) : pair.read(region, offset, length)) + " "
                        + checksum(pair.received()));
            }
            log.add("memory " + checksum(memory.segment()));
            log.add("beyond " + pair.read(region, LENGTH - 1, MISTAKE));
            region.close();
        }
        return log;
    }

    private static long checksum(MemorySegment memory) {
        CRC32C sum = new CRC32C();
        sum.update(memory.asByteBuffer());
        return sum.getValue();
    }

    @Test
    void shouldGiveTheSameMemoryAndCompletions() {
        PageLocks locks = KernelPageLocks.find();
        Assumptions.assumeTrue(locks.limitBytes() >= LENGTH, "this process may lock " + locks.limitBytes() + " bytes");
        List<String> off = outcome(SEED, "pinning", "off");
        assertTrue(off.getLast().startsWith("beyond ") && !off.getLast().contains("SUCCESS"), off.getLast());

        assertEquals(off, outcome(SEED, "pinning", "lazy", "pin-budget", "" + GRANULE), "tiny budget, seed " + SEED);
        assertEquals(off, outcome(SEED, "pinning", "lazy"), "lazy, seed " + SEED);
        assertEquals(off, outcome(SEED, "pinning", "eager"), "eager, seed " + SEED);
    }

    @ParameterizedTest
    @EveryTransport
    void shouldGiveTheSameOnSmallGranules(String transport) {
        assertEquals(
                outcome(SEED + 1, "pinning", "off", "transport", transport),
                outcome(
                        SEED + 1,
                        "pinning",
                        "lazy",
                        "pin-budget",
                        "262144",
                        "pin-granule",
                        "65536",
                        "transport",
                        transport),
                "seed " + (SEED + 1));
    }
}
