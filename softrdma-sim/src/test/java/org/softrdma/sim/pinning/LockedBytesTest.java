package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.device.VerbsDevice;

/** What a device says it has pinned is what the kernel says is locked. No other test of the process may pin meanwhile. */
class LockedBytesTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 4_711L);
    private static final Set<AccessFlag> ACCESS =
            Set.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private static final int GRANULE = PinningSettings.DEFAULT_GRANULE;
    private static final int BUDGET = 8 * GRANULE;
    private static final int REGION = 24 * GRANULE;
    private static final int STEPS = 400;
    private static final int LONGEST = 3 * GRANULE;

    @BeforeEach
    void requireRoom() {
        PageLocks locks = KernelPageLocks.find();
        Assumptions.assumeTrue(locks.missing().isEmpty(), locks.missing());
        Assumptions.assumeTrue(
                locks.limitBytes() >= 2L * BUDGET, "this process may lock " + locks.limitBytes() + " bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"anonymous", "shared", "file"})
    void shouldAgreeWithTheKernelAfterEveryStep(String kind, @TempDir Path directory) {
        Random random = new Random(SEED);
        long before = PinnedPair.kernelLockedBytes();
        try (PinnedPair pair = new PinnedPair("pinning", "lazy", "pin-budget", "" + BUDGET)) {
            VerbsDevice device = pair.server().device();
            List<HostMemory> memories = new ArrayList<>();
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                memories.add(device.allocateMemory(REGION, source(kind, directory, i)));
            }
            for (int step = 0; step < STEPS; step++) {
                step(pair, random, memories, regions);
                String where = kind + ", seed " + SEED + ", step " + step;
                long pinned = device.pinningCounters().pinnedBytes();
                assertEquals(PinnedPair.kernelLockedBytes() - before, pinned, where);
                assertTrue(pinned <= BUDGET, where + ": " + pinned + " bytes");
            }
            assertTrue(device.pinningCounters().evictions() > 0, "the budget forces evictions");
            long smaps = 0;
            for (HostMemory memory : memories) {
                smaps += PinnedPair.kernelLockedBytes(memory.segment());
            }
            assertEquals(device.pinningCounters().pinnedBytes(), smaps, "Locked: in smaps");
            regions.forEach(MemoryRegion::close);
            assertEquals(before, PinnedPair.kernelLockedBytes(), "locked after deregistration");
            memories.forEach(HostMemory::close);
        }
    }

    private static MemorySource source(String kind, Path directory, int number) {
        return switch (kind) {
            case "shared" -> new MemorySource.SharedMemory();
            case "file" -> new MemorySource.File(directory.resolve("memory" + number));
            default -> new MemorySource.Anonymous();
        };
    }

    private static void step(PinnedPair pair, Random random, List<HostMemory> memories, List<MemoryRegion> regions) {
        int dice = random.nextInt(20);
        if (regions.isEmpty() || (dice == 0 && regions.size() < 6)) {
            long length = 1L + random.nextInt(REGION);
            MemorySegment memory =
                    memories.get(random.nextInt(2)).segment().asSlice(random.nextLong(REGION - length + 1), length);
            regions.add(pair.server().domain().register(memory, ACCESS));
            return;
        }
        MemoryRegion region = regions.get(random.nextInt(regions.size()));
        long offset = random.nextLong(region.length());
        long length = Math.min(region.length() - offset, 1 + random.nextInt(LONGEST));
        if (dice == 1) {
            regions.remove(region);
            region.close();
        } else if (dice == 2) {
            region.unpin();
        } else if (dice == 3) {
            Advice advice = Advice.values()[random.nextInt(Advice.values().length)];
            pair.server().domain().advise(advice, true, region.address() + offset, length, region.lkey());
        } else if (dice < 12) {
            assertEquals(CompletionStatus.SUCCESS, pair.read(region, offset, length));
        } else {
            assertEquals(CompletionStatus.SUCCESS, pair.write(region, offset, length));
        }
    }

    @Test
    void shouldPinExactlyTheGranulesThatAreRead() {
        long length = 16L << 30;
        Random random = new Random(SEED);
        long before = PinnedPair.kernelLockedBytes();
        try (PinnedPair pair = new PinnedPair("pinning", "lazy", "pin-budget", "" + BUDGET);
                HostMemory memory = pair.server().device().allocateMemory(length, new MemorySource.SharedMemory());
                MemoryRegion region = pair.server().domain().register(memory.segment(), ACCESS)) {
            assertEquals(0, region.pinningCounters().pins());
            assertEquals(before, PinnedPair.kernelLockedBytes());
            Set<Long> granules = new HashSet<>();
            for (int i = 0; i < 2 * BUDGET / GRANULE; i++) {
                long page = random.nextLong(length / 4096);
                assertEquals(CompletionStatus.SUCCESS, pair.read(region, page * 4096, 4096));
                granules.add((memory.segment().address() + page * 4096) / GRANULE);
                long expected = Math.min(granules.size() * (long) GRANULE, BUDGET);
                assertEquals(before + expected, PinnedPair.kernelLockedBytes(), "seed " + SEED + " READ " + i);
            }
            assertEquals(granules.size(), region.pinningCounters().firstTouches(), "seed " + SEED);
            assertEquals(granules.size(), region.pinningCounters().pins(), "seed " + SEED);
        }
        assertEquals(before, PinnedPair.kernelLockedBytes());
    }

    @Test
    void shouldPinAtRegistrationWhenEager() {
        long before = PinnedPair.kernelLockedBytes();
        try (PinnedPair pair = new PinnedPair("pinning", "eager");
                HostMemory memory = pair.server().device().allocateMemory(BUDGET)) {
            MemoryRegion region =
                    pair.server().domain().register(memory.segment().asSlice(1, GRANULE), ACCESS, PinningPolicy.AUTO);
            assertEquals(PinningPolicy.EAGER, region.pinning());
            assertEquals(before + GRANULE + 4096, PinnedPair.kernelLockedBytes());
            region.unpin();
            assertEquals(before + GRANULE + 4096, PinnedPair.kernelLockedBytes(), "EAGER stays");
            region.close();
        }
        assertEquals(before, PinnedPair.kernelLockedBytes());
    }

    @Test
    void shouldLeaveNoFileBehind(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("memory");
        try (PinnedPair pair = new PinnedPair();
                HostMemory memory = pair.server().device().allocateMemory(REGION, new MemorySource.File(path))) {
            assertTrue(Files.notExists(path), "its name is gone at once");
            memory.segment().set(ValueLayout.JAVA_BYTE, REGION - 1, (byte) 7);
            MemoryRegion region = pair.server().domain().register(memory.segment(), ACCESS);
            assertEquals(CompletionStatus.SUCCESS, pair.read(region, REGION - 1, 1));
            assertEquals(7, pair.received().get(ValueLayout.JAVA_BYTE, 0));
            region.close();
        }
    }
}
