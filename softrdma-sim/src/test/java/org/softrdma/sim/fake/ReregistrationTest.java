package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** A registration gets other memory, rights or another domain. */
class ReregistrationTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 1, 1, 0);
    private static final int BYTES = 8192;
    private static final int READ_BOUNDS = 0x0101;
    private static final int READ_RIGHTS = 0x0102;
    private static final int READ_DOMAIN = 0x0103;

    /** A device and a peer that has spoken. */
    private static final class Bench implements AutoCloseable {
        private final FakeDevice device;
        private final FakeSocket socket;
        private final QueuePair pair;
        private int heard;

        Bench(String... options) {
            device = new FakeDevice(options);
            socket = device.socket();
            pair = device.own(device.connect(socket, LIMITS, 8));
            socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
            device.run();
        }

        byte[] heard() {
            byte[] all = FakeDevice.stream(socket);
            byte[] here = TestBytes.slice(all, heard, all.length);
            heard = all.length;
            return here;
        }

        void reads(int msn, MemoryRegion region, int length, byte[] expected) {
            heard();
            socket.give(Frames.fpdu(Frames.readRequest(msn, 9, 99, length, region.rkey(), region.address()), false));
            device.run();
            byte[] response = Frames.fpdu(Frames.tagged(Frames.READ_RESPONSE, true, 9, 99, expected), false);
            assertEquals(TestBytes.hex(response), TestBytes.hex(heard()));
        }

        void refuses(int code, int msn, int key, long address) {
            heard();
            byte[] read = Frames.readRequest(msn, 9, 99, 1, key, address);
            socket.give(Frames.fpdu(read, false));
            device.run();
            assertEquals(
                    TestBytes.hex(Frames.fpdu(Frames.terminate(code, read, true, true), false)),
                    TestBytes.hex(heard()));
        }

        @Override
        public void close() {
            socket.giveReset();
            device.run();
            device.close();
        }
    }

    private static MemorySegment pattern(MemorySegment memory, int seed) {
        MemorySegment.copy(TestBytes.pattern(seed, (int) memory.byteSize()), 0, memory, ValueLayout.JAVA_BYTE, 0, (int)
                memory.byteSize());
        return memory;
    }

    @Test
    void shouldNameOtherMemoryByTheSameKeys() {
        for (PinningPolicy policy : List.of(PinningPolicy.OFF, PinningPolicy.LAZY, PinningPolicy.EAGER)) {
            try (Bench bench = new Bench()) {
                HostMemory first = bench.device.device().allocateMemory(BYTES);
                HostMemory second = bench.device.device().allocateMemory(2 * BYTES);
                pattern(first.segment(), 1);
                pattern(second.segment(), 2);
                MemoryRegion region =
                        bench.device.domain().register(first.segment(), Set.of(AccessFlag.REMOTE_READ), policy);
                int rkey = region.rkey();
                int lkey = region.lkey();
                bench.reads(1, region, 16, TestBytes.pattern(1, 16));
                region.reregister(Reregistration.ofMemory(second.segment()));
                assertEquals(rkey, region.rkey());
                assertEquals(lkey, region.lkey());
                assertEquals(second.segment().address(), region.address());
                assertEquals(2 * BYTES, region.length());
                assertSame(second.segment(), region.memory());
                assertEquals(policy, region.pinning());
                assertEquals(Set.of(AccessFlag.REMOTE_READ), region.access());
                bench.reads(2, region, 2 * BYTES, TestBytes.pattern(2, 2 * BYTES));
                assertEquals(2 * BYTES, bench.device.counter("pinning.registeredBytes"));
                assertEquals(1, bench.device.counter("memoryRegions"));
                MemorySegment gone = first.segment();
                first.close();
                assertFalse(gone.scope().isAlive(), "the old memory is still held");
                second.close();
                assertTrue(region.memory().scope().isAlive(), "the new memory is not held");
                region.close();
                assertEquals(0, bench.device.counter("pinning.pinnedBytes"), policy::toString);
                assertEquals(0, bench.device.counter("pinning.registeredBytes"));
                assertEquals(0, bench.device.counter("memoryRegions"));
            }
        }
    }

    @Test
    void shouldRefuseTheOldAddresses() {
        try (Bench bench = new Bench()) {
            MemoryRegion region = bench.device.region(1, BYTES, AccessFlag.REMOTE_READ);
            long old = region.address();
            region.reregister(Reregistration.ofMemory(bench.device.memory(BYTES)));
            bench.refuses(READ_BOUNDS, 1, region.rkey(), old);
        }
    }

    @Test
    void shouldChangeRights() {
        try (Bench bench = new Bench()) {
            MemoryRegion region = bench.device.region(1, BYTES, AccessFlag.LOCAL_WRITE);
            region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED)));
            assertEquals(EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED), region.access());
            assertEquals(0, region.address());
            bench.reads(1, region, 8, TestBytes.pattern(1, 8));
            region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.READ_SINK)));
            assertEquals(EnumSet.of(AccessFlag.READ_SINK, AccessFlag.LOCAL_WRITE), region.access());
            bench.refuses(READ_RIGHTS, 2, region.rkey(), region.address());
        }
    }

    @Test
    void shouldMoveToAnotherDomain() {
        try (Bench bench = new Bench()) {
            ProtectionDomain other = bench.device.device().allocateProtectionDomain();
            MemoryRegion region = bench.device.region(1, BYTES, AccessFlag.REMOTE_READ);
            region.reregister(Reregistration.ofDomain(other));
            assertSame(other, region.protectionDomain());
            assertEquals(
                    VerbsErrorCode.BUSY,
                    assertThrows(VerbsException.class, other::close).code());
            bench.refuses(READ_DOMAIN, 1, region.rkey(), region.address());
            region.reregister(Reregistration.ofDomain(bench.device.domain()));
            other.close();
            assertThrows(IllegalStateException.class, () -> region.reregister(Reregistration.ofDomain(other)));
            assertSame(bench.device.domain(), region.protectionDomain());
        }
    }

    @Test
    void shouldRefuseWhatCannotBeRegisteredAndChangeNothing() {
        try (Bench bench = new Bench();
                FakeDevice strange = new FakeDevice();
                Arena arena = Arena.ofConfined()) {
            MemoryRegion region = bench.device.region(1, BYTES, AccessFlag.REMOTE_READ);
            MemorySegment memory = region.memory();
            assertThrows(
                    IllegalArgumentException.class,
                    () -> region.reregister(Reregistration.ofMemory(MemorySegment.ofArray(new byte[8]))));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_WRITE))));
            assertThrows(
                    IllegalArgumentException.class, () -> region.reregister(Reregistration.ofDomain(strange.domain())));
            MemorySegment readOnly = arena.allocate(8).asReadOnly();
            assertThrows(
                    IllegalArgumentException.class,
                    () -> region.reregister(new Reregistration(readOnly, null, Set.of(AccessFlag.LOCAL_WRITE))));
            assertSame(memory, region.memory());
            assertEquals(Set.of(AccessFlag.REMOTE_READ), region.access());
            bench.reads(1, region, 8, TestBytes.pattern(1, 8));
            region.close();
            assertThrows(
                    IllegalStateException.class,
                    () -> region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_READ))));
        }
    }

    /** A response goes on from the memory that the region had, or not at all. */
    @Test
    void shouldStopAResponseThatHasBegun() {
        try (Bench bench = new Bench("segment", "64", "copy-below", "1")) {
            MemorySegment memory = pattern(bench.device.memory(512), 1);
            MemoryRegion region =
                    bench.device.own(bench.device.domain().register(memory, Set.of(AccessFlag.REMOTE_READ)));
            bench.heard();
            bench.socket.takeOnly(200);
            bench.socket.give(Frames.fpdu(Frames.readRequest(1, 9, 99, 512, region.rkey(), region.address()), false));
            bench.device.run();
            region.reregister(Reregistration.ofMemory(pattern(bench.device.memory(512), 2)));
            memory.fill((byte) 0xDB);
            bench.socket.takeAll();
            bench.device.run();
            assertEquals(QueuePairState.ERROR, bench.pair.state());
            byte[] said = bench.heard();
            assertFalse(TestBytes.hex(said).contains("dbdb"), "memory that the region has left");
            assertTrue(said.length < 512);
        }
    }

    @Test
    void shouldFailALocalRequestThatUsesTheOldMemory() {
        try (Bench bench = new Bench()) {
            MemoryRegion region = bench.device.region(1, BYTES, AccessFlag.READ_SINK);
            MemorySegment old = region.memory();
            assertEquals(PostStatus.ACCEPTED, bench.pair.postRead(1, region, 0, 100, 5, 6, SendFlags.SIGNALLED));
            bench.device.run();
            long address = region.address();
            region.reregister(Reregistration.ofMemory(bench.device.memory(BYTES)));
            byte[] before = old.toArray(ValueLayout.JAVA_BYTE);
            bench.socket.give(Frames.fpdu(
                    Frames.tagged(Frames.READ_RESPONSE, true, region.lkey(), address, new byte[100]), false));
            assertEquals(List.of(CompletionStatus.LOCAL_PROTECTION_ERROR), bench.device.drain());
            assertArrayEquals(before, old.toArray(ValueLayout.JAVA_BYTE));
        }
    }
}
