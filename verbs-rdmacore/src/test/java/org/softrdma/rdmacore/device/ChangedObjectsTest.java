package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.ibverbs.Errno;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Regions that are registered anew, and completion queues that get another size. */
@Timeout(60)
class ChangedObjectsTest {
    private static final int BYTES = 64;

    @Test
    void shouldGiveThePeerTheNewMemory() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            QueuePair peer = pair.connect().connecting();
            HostMemory old = pair.device.allocateMemory(BYTES);
            HostMemory next = pair.own(pair.device.allocateMemory(2 * BYTES));
            next.segment().set(ValueLayout.JAVA_LONG, BYTES, 42);
            MemoryRegion region = pair.own(pair.domain.register(old.segment(), Set.of(AccessFlag.REMOTE_READ)));
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);
            int before = region.rkey();

            region.reregister(Reregistration.ofMemory(next.segment()));
            old.close(); // no registration counts on it any more

            assertEquals(next.segment().address(), region.address());
            assertEquals(2 * BYTES, region.length());
            assertNotEquals(before, region.rkey());
            peer.postRead(1, sink, 0, 8, region.address() + BYTES, region.rkey(), SendFlags.SIGNALLED);
            pair.success(peer, 1);
            assertEquals(42, sink.memory().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @Test
    void shouldMoveToAnotherDomainAndChangeItsRights() throws Exception {
        try (FakePair pair = FakePair.roce();
                FakePair other = FakePair.roce()) {
            QueuePair peer = pair.connect().connecting();
            ProtectionDomain from = pair.device.allocateProtectionDomain();
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);
            MemoryRegion region = pair.own(from.register(
                    pair.own(pair.device.allocateMemory(BYTES)).segment(), Set.of(AccessFlag.LOCAL_WRITE)));

            region.reregister(new Reregistration(null, pair.domain, Set.of(AccessFlag.REMOTE_READ)));

            assertSame(pair.domain, region.protectionDomain());
            assertEquals(Set.of(AccessFlag.REMOTE_READ), region.access());
            from.close();
            assertThrows(VerbsException.class, pair.domain::close);
            peer.postRead(1, sink, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED);
            pair.success(peer, 1);
            assertThrows(
                    IllegalArgumentException.class, () -> region.reregister(Reregistration.ofDomain(other.domain)));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_WRITE))));
            peer.postRead(2, sink, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED);
            pair.success(peer, 2);
        }
    }

    @Test
    void shouldRefuseAnotherFirstAddressAndAClosedRegion() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            HostMemory memory = pair.own(pair.device.allocateMemory(BYTES));
            MemoryRegion fromZero = pair.own(pair.domain.register(memory.segment(), Set.of(AccessFlag.ZERO_BASED)));
            expect(VerbsErrorCode.NOT_SUPPORTED, fromZero, Reregistration.ofMemory(memory.segment()));
            expect(VerbsErrorCode.NOT_SUPPORTED, fromZero, Reregistration.ofAccess(Set.of()));
            MemoryRegion closed = pair.domain.register(memory.segment(), Set.of());
            closed.close();
            assertThrows(
                    IllegalStateException.class, () -> closed.reregister(Reregistration.ofMemory(memory.segment())));
        }
        try (FakePair pair = FakePair.iwarp()) {
            MemoryRegion region = pair.region(BYTES, AccessFlag.LOCAL_WRITE);
            expect(VerbsErrorCode.NOT_SUPPORTED, region, Reregistration.ofAccess(Set.of()));
        }
    }

    private static void expect(VerbsErrorCode code, MemoryRegion region, Reregistration change) {
        assertEquals(
                code,
                assertThrows(VerbsException.class, () -> region.reregister(change))
                        .code());
    }

    /** The kernel may have done half of it: both memories stay until the region is closed. */
    @Test
    void shouldBeAsItWasOrBeGoodForClosingOnlyWhenTheKernelFails() throws Exception {
        AtomicInteger answer = new AtomicInteger();
        FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false) {
            @Override
            public int reregisterRegion(long region, int changes, long domain, long address, long length, int access) {
                return answer.get() == 0
                        ? super.reregisterRegion(region, changes, domain, address, length, access)
                        : answer.get();
            }
        };
        try (FakePair pair = new FakePair(library)) {
            ProtectionDomain other = pair.device.allocateProtectionDomain();
            HostMemory next = pair.own(pair.device.allocateMemory(BYTES));
            MemoryRegion region = pair.region(BYTES, AccessFlag.REMOTE_READ);
            int key = region.rkey();
            long address = region.address();
            Reregistration change = new Reregistration(next.segment(), other, null);

            answer.set(Errno.ENOMEM);
            expect(VerbsErrorCode.NO_RESOURCES, region, change);
            assertEquals(key, region.rkey());
            assertEquals(address, region.address());
            answer.set(-Errno.EIO);
            VerbsException doubt = assertThrows(VerbsException.class, () -> region.reregister(change));
            assertTrue(String.valueOf(doubt.getMessage()).contains("only be closed"), doubt::getMessage);
            answer.set(0);
            assertThrows(IllegalStateException.class, () -> region.reregister(change));
            assertThrows(VerbsException.class, other::close, "the region may be there");
            region.close();
            other.close();
        }
    }

    @Test
    void shouldResizeAQueueThatKeepsWhatIsInIt() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            CompletionQueue small = pair.own(pair.device.createCompletionQueue(2));
            ConnectedPair connection = pair.own(ConnectedPair.of(pair.device, pair.domain, small));
            MemoryRegion source = pair.region(BYTES, AccessFlag.REMOTE_WRITE, AccessFlag.LOCAL_WRITE);
            small.resize(8);
            assertEquals(8, small.entries());
            for (int i = 0; i < 4; i++) {
                connection
                        .connecting()
                        .postWrite(i, source, 0, 8, source.address(), source.rkey(), SendFlags.SIGNALLED);
            }
            VerbsException tooSmall = assertThrows(VerbsException.class, () -> small.resize(3));
            assertEquals(VerbsErrorCode.INVALID, tooSmall.code());
            assertEquals(8, small.entries());
            small.resize(4);
            var completions = org.softrdma.verbs.WorkCompletion.array(8);
            assertEquals(4, small.poll(completions));
            for (int i = 0; i < 4; i++) {
                assertEquals(i, completions[i].wrId());
                assertEquals(CompletionStatus.SUCCESS, completions[i].status());
            }
            assertThrows(IllegalArgumentException.class, () -> small.resize(0));
        }
        try (FakePair pair = FakePair.iwarp()) {
            assertEquals(
                    VerbsErrorCode.NOT_SUPPORTED,
                    assertThrows(VerbsException.class, () -> pair.queue.resize(128))
                            .code());
        }
    }
}
