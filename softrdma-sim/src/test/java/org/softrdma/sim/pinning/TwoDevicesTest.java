package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;

/** Two devices in one process over the same memory: its locks and its life are the process's. No other test may pin meanwhile. */
class TwoDevicesTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 815L);
    private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.REMOTE_READ);
    private static final int GRANULE = PinningSettings.DEFAULT_GRANULE;
    private static final int GRANULES = 16;
    private static final int BYTES = GRANULES * GRANULE;
    private static final int STEPS = 200;
    private static final int LONGEST = 3 * GRANULE;

    private static void requireRoom() {
        PageLocks locks = KernelPageLocks.find();
        Assumptions.assumeTrue(locks.missing().isEmpty(), locks.missing());
        Assumptions.assumeTrue(
                locks.limitBytes() - locks.lockedBytes() >= 2L * BYTES,
                "this process may lock " + locks.limitBytes() + " bytes");
    }

    private long before;

    @BeforeEach
    void countWhatIsLocked() {
        before = PinnedPair.kernelLockedBytes();
    }

    private long lockedBytes() {
        return PinnedPair.kernelLockedBytes() - before;
    }

    @Test
    void shouldKeepPagesLockedForTheOtherDeviceWhenOneIsClosed() {
        requireRoom();
        try (TestDevice one = new TestDevice();
                HostMemory memory = one.device().allocateMemory(BYTES);
                MemoryRegion stays = one.domain().register(memory.segment(), ACCESS, PinningPolicy.EAGER)) {
            try (TestDevice other = new TestDevice();
                    MemoryRegion goes = other.domain().register(memory.segment(), ACCESS, PinningPolicy.EAGER)) {
                assertEquals(BYTES, goes.pinningCounters().pinnedBytes());
                assertEquals(BYTES, lockedBytes(), "what both have locked counts once");
            }
            assertEquals(BYTES, stays.pinningCounters().pinnedBytes());
            assertEquals(BYTES, lockedBytes(), "VmLck once the other device is closed");
        }
        assertEquals(0, lockedBytes(), "VmLck once both are closed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "roce"})
    void shouldKeepLazyPinsWhenAnotherDeviceEvictsItsOwn(String wire) {
        requireRoom();
        Random random = new Random(SEED);
        try (PinnedPair roomy = PinnedPair.on(wire, "pinning", "lazy", "pin-budget", "" + BYTES);
                PinnedPair tight = PinnedPair.on(wire, "pinning", "lazy", "pin-budget", "" + 4 * GRANULE);
                HostMemory memory = tight.server().device().allocateMemory(BYTES)) {
            MemoryRegion whole = roomy.server().domain().register(memory.segment(), ACCESS);
            MemoryRegion evicted = tight.server().domain().register(memory.segment(), ACCESS);
            for (int granule = 0; granule < GRANULES; granule++) {
                assertEquals(CompletionStatus.SUCCESS, roomy.read(whole, (long) granule * GRANULE, GRANULE));
            }
            assertEquals(BYTES, lockedBytes());
            for (int step = 0; step < STEPS; step++) {
                long length = random.nextLong(1, LONGEST);
                long offset = random.nextLong(BYTES - length);
                assertEquals(CompletionStatus.SUCCESS, tight.read(evicted, offset, length));
                assertEquals(BYTES, lockedBytes(), "VmLck, seed " + SEED + ", step " + step);
            }
            assertTrue(tight.server().device().pinningCounters().evictions() > 0, "the budget forces evictions");
            whole.close();
            assertEquals(tight.server().device().pinningCounters().pinnedBytes(), lockedBytes(), "what one has left");
            evicted.close();
            assertEquals(0, lockedBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "roce"})
    void shouldKeepMemoryOfAClosedDeviceWhileItIsRegisteredOnAnother(String wire) {
        try (PinnedPair pair = PinnedPair.on(wire)) {
            MemorySegment segment;
            MemoryRegion region;
            try (TestDevice allocates = new TestDevice();
                    HostMemory memory = allocates.device().allocateMemory(BYTES)) {
                segment = memory.segment();
                segment.set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) 7);
                region = pair.server().domain().register(segment, ACCESS);
            }
            assertTrue(segment.scope().isAlive(), "unmapped under the region of another device");
            assertEquals(CompletionStatus.SUCCESS, pair.read(region, BYTES - 1, 1));
            assertEquals(7, pair.received().get(ValueLayout.JAVA_BYTE, 0));
            region.close();
            assertFalse(segment.scope().isAlive(), "still mapped when its last region has ended");
        }
    }
}
