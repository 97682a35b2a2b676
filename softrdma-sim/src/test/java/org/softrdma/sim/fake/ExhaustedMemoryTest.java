package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Connector;

/** Objects that could not be made leave nothing behind: the device can be closed, and they can be made once there is memory. */
class ExhaustedMemoryTest {
    private static final QueuePairLimits WITH_INLINE = new QueuePairLimits(16, 16, 2, 2, 256);
    private static final int BYTES = 8192;
    private static final String CAUSE = "injected";

    /** Makes the first allocation fail, then the second and so on, until it works. */
    private static <T> T madeAtLast(FakeDevice device, Supplier<T> maker) {
        for (int call = 1; ; call++) {
            device.nativeMemory().failAt(call, () -> new OutOfMemoryError(CAUSE));
            try {
                T made = maker.get();
                assertTrue(call > 1, "nothing was allocated");
                return made;
            } catch (VerbsException e) {
                assertEquals(VerbsErrorCode.NO_RESOURCES, e.code());
                assertTrue(String.valueOf(e.getMessage()).contains(CAUSE), e.toString());
            } catch (OutOfMemoryError e) {
                throw new AssertionError("expected a refusal", e); // JUnit ends at this Error itself
            } finally {
                device.nativeMemory().failNever();
            }
        }
    }

    @Test
    void shouldRefuseAQueuePairWhenThereIsNoMemory() {
        try (FakeDevice device = new FakeDevice()) {
            Connector connector = device.connector(new FakeSocket());
            try (QueuePair pair = madeAtLast(device, () -> device.queuePair(connector, WITH_INLINE))) {
                assertEquals(256, pair.limits().maxInline());
            }
            connector.close();
        }
    }

    @Test
    void shouldGiveEverythingBackWhenAQueuePairEndsInAnotherError() {
        try (FakeDevice device = new FakeDevice()) {
            Connector connector = device.connector(new FakeSocket());
            InternalError error = new InternalError(CAUSE);
            device.nativeMemory().failAt(1, () -> error);
            assertSame(error, assertThrows(Error.class, () -> device.queuePair(connector, WITH_INLINE)));
            connector.close();
        }
    }

    @Test
    void shouldFreeInlineMemoryWithItsQueuePair() {
        try (FakeDevice device = new FakeDevice()) {
            Connector connector = device.connector(new FakeSocket());
            QueuePair pair = device.queuePair(connector, WITH_INLINE);
            long buffers = device.nativeMemory().buffers();
            pair.close();
            assertEquals(buffers - 1, device.nativeMemory().buffers());
            connector.close();
        }
    }

    @Test
    void shouldRefuseARegionWhenThereIsNoMemoryAndLetItsMemoryGo() {
        try (FakeDevice device = new FakeDevice()) {
            HostMemory memory = madeAtLast(device, () -> device.device().allocateMemory(BYTES));
            MemorySegment segment = memory.segment();
            madeAtLast(device, () -> device.domain().register(segment, EnumSet.of(AccessFlag.REMOTE_READ)))
                    .close();
            assertEquals(0, device.counter("memoryRegions"));
            memory.close();
            assertFalse(segment.scope().isAlive(), "a refused registration still counts");
        }
    }

    /** The first window of a device needs the first rows of its table. */
    @Test
    void shouldRefuseAWindowWhenThereIsNoMemory() {
        try (FakeDevice device = new FakeDevice()) {
            madeAtLast(device, () -> device.domain().allocateWindow()).close();
            assertEquals(0, device.counter("memoryWindows"));
        }
    }

    @Test
    void shouldNotCountARegionThatEndedInAnError() {
        try (FakeDevice device = new FakeDevice()) {
            HostMemory memory = device.device().allocateMemory(BYTES);
            MemorySegment segment = memory.segment();
            InternalError error = new InternalError(CAUSE);
            device.nativeMemory().failAt(1, () -> error);
            assertSame(
                    error,
                    assertThrows(Error.class, () -> device.domain().register(segment, Set.of(AccessFlag.REMOTE_READ))));
            memory.close();
            assertFalse(segment.scope().isAlive(), "a failed registration still counts");
        }
    }
}
