package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.ibverbs.Errno;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.rdmacore.fake.DelegatingOperations;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** Windows of type 2: their keys, what they let a peer do, and when they and their regions can be closed. */
@Timeout(60)
class WindowTest {
    private static final Set<AccessFlag> READ = Set.of(AccessFlag.REMOTE_READ);
    private static final int DRIVERS = ~0xFF;

    private static MemoryRegion bindable(FakePair pair) {
        return pair.region(64, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS);
    }

    @Test
    void shouldLetThePeerReadUntilItTakesTheKeyBack() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            ConnectedPair connection = pair.connect();
            QueuePair owner = connection.accepting();
            QueuePair peer = connection.connecting();
            MemoryRegion region = bindable(pair);
            MemoryRegion sink = pair.region(64, AccessFlag.READ_SINK);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            assertEquals(0, window.rkey(), "before the first bind");

            owner.postBindWindow(1, window, region, 16, 32, READ, SendFlags.SIGNALLED);
            int key = window.rkey();
            assertNotEquals(0, key);
            WorkCompletion bound = pair.success(owner, 1);
            assertEquals(CompletionOpcode.BIND_WINDOW, bound.opcode());
            assertEquals(0, bound.byteLength());

            peer.postRead(2, sink, 0, 32, region.address() + 16, key, SendFlags.SIGNALLED);
            pair.success(peer, 2);
            assertEquals(
                    VerbsErrorCode.BUSY,
                    assertThrows(VerbsException.class, region::close).code());

            owner.postReceive(3, region, 0, 16);
            peer.postSendInvalidate(4, sink, 0, 8, key, SendFlags.NONE);
            WorkCompletion told = pair.success(owner, 3);
            assertEquals(key, told.invalidatedKey());
            assertEquals(8, told.byteLength());

            region.close();
            peer.postRead(5, sink, 0, 32, region.address() + 16, key, SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.REMOTE_ACCESS_ERROR, pair.completion().status());
        }
    }

    @Test
    void shouldCountBindsInTheLowestBitsOfTheKeyOnly() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            QueuePair owner = pair.connect().accepting();
            MemoryRegion region = bindable(pair);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            int before = 0;
            int drivers = 0;
            for (int i = 0; i < 600; i++) {
                owner.postBindWindow(1, window, region, 0, 64, READ, SendFlags.SIGNALLED);
                pair.success(owner, 1);
                int key = window.rkey();
                drivers = i == 0 ? key & DRIVERS : drivers;
                assertEquals(drivers, key & DRIVERS);
                assertNotEquals(before, key);
                before = key;
                owner.postInvalidate(2, key, SendFlags.SIGNALLED);
                assertEquals(CompletionOpcode.INVALIDATE, pair.success(owner, 2).opcode());
            }
        }
    }

    @Test
    void shouldFailTheBindOfWhatMayNotBeBound() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            MemoryRegion plain = pair.region(64, AccessFlag.LOCAL_WRITE);
            MemoryRegion readOnly = pair.region(64, AccessFlag.BIND_WINDOWS);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            Set<AccessFlag> write = Set.of(AccessFlag.REMOTE_WRITE);
            expectBindError(pair, owner -> owner.postBindWindow(1, window, plain, 0, 64, READ, SendFlags.SIGNALLED));
            expectBindError(
                    pair, owner -> owner.postBindWindow(1, window, readOnly, 0, 64, write, SendFlags.SIGNALLED));
            expectBindError(
                    pair, owner -> owner.postBindWindow(1, window, readOnly, 32, 64, READ, SendFlags.SIGNALLED));
            expectBindError(pair, owner -> owner.postBindWindow(1, window, readOnly, 0, 0, READ, SendFlags.SIGNALLED));
            SendWorkRequest unknownKey = new SendWorkRequest()
                    .bindWindow(1, window, READ, SendFlags.SIGNALLED)
                    .add(plain.address(), 8, 0x7FFF_FFFF);
            expectBindError(pair, owner -> owner.post(unknownKey));
        }
    }

    /** The driver knows a window by its last key that was bound. */
    @Test
    void shouldBindAgainWhenBindsHaveFailed() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            MemoryRegion region = bindable(pair);
            MemoryRegion plain = pair.region(64, AccessFlag.LOCAL_WRITE);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            Set<Integer> keys = new HashSet<>();
            for (int failures = 0; failures < 4; failures++) {
                for (int i = 0; i < failures; i++) {
                    expectBindError(
                            pair, owner -> owner.postBindWindow(1, window, plain, 0, 64, READ, SendFlags.SIGNALLED));
                }
                QueuePair owner = pair.connect().accepting();
                owner.postBindWindow(2, window, region, 0, 64, READ, SendFlags.SIGNALLED);
                pair.success(owner, 2);
                assertTrue(keys.add(window.rkey()), "a key of its own");
                owner.postInvalidate(3, window.rkey(), SendFlags.SIGNALLED);
                pair.success(owner, 3);
            }
        }
    }

    /** The second was posted before anybody knew that the first would fail. */
    @Test
    void shouldBindAgainWhenTwoBindsOfOneWindowHaveFailed() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            MemoryRegion region = bindable(pair);
            MemoryRegion plain = pair.region(64, AccessFlag.LOCAL_WRITE);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            QueuePair failing = pair.connect().accepting();
            failing.postBindWindow(1, window, plain, 0, 64, READ, SendFlags.NONE);
            failing.postBindWindow(2, window, region, 0, 64, READ, SendFlags.NONE);
            assertEquals(
                    CompletionStatus.MEMORY_WINDOW_BIND_ERROR, pair.completion().status());
            assertEquals(CompletionStatus.FLUSHED, pair.completion().status());

            QueuePair owner = pair.connect().accepting();
            owner.postBindWindow(3, window, region, 0, 64, READ, SendFlags.SIGNALLED);
            pair.success(owner, 3);
        }
    }

    /** librxe reads the old key from the {@code ibv_mw} when the chain is posted. */
    @Test
    void shouldBindOneWindowTwiceInAList() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            QueuePair owner = pair.connect().accepting();
            MemoryRegion region = bindable(pair);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            owner.postBindWindow(1, window, region, 0, 64, READ, SendFlags.SIGNALLED);
            pair.success(owner, 1);
            SendWorkRequestList list = new SendWorkRequestList(4);
            list.next().invalidate(2, window.rkey(), SendFlags.NONE);
            list.next().bindWindow(3, window, READ, SendFlags.NONE).add(region, 0, 8);
            int next = (window.rkey() & DRIVERS) | ((window.rkey() + 1) & ~DRIVERS);
            list.next().invalidate(4, next, SendFlags.NONE);
            list.next().bindWindow(5, window, READ, SendFlags.SIGNALLED).add(region, 8, 8);
            owner.post(list);
            assertEquals(4, list.accepted());
            pair.success(owner, 5);
        }
    }

    /** A key has 8 bits of the application's: after 255 failures the next one would be that of the driver. */
    @Test
    void shouldNotBindWithTheKeyThatTheDriverHas() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            MemoryRegion region = bindable(pair);
            MemoryRegion plain = pair.region(64, AccessFlag.LOCAL_WRITE);
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            for (int i = 0; i < 255; i++) {
                expectBindError(
                        pair, owner -> owner.postBindWindow(1, window, plain, 0, 64, READ, SendFlags.SIGNALLED));
            }
            QueuePair owner = pair.connect().accepting();
            owner.postBindWindow(2, window, region, 0, 64, READ, SendFlags.SIGNALLED);
            pair.success(owner, 2);
        }
    }

    private static void expectBindError(FakePair pair, java.util.function.Consumer<QueuePair> bind) {
        QueuePair owner = pair.connect().accepting();
        bind.accept(owner);
        assertEquals(
                CompletionStatus.MEMORY_WINDOW_BIND_ERROR, pair.completion().status());
    }

    @Test
    void shouldRefuseWindowsThatAreClosedOrOfAnotherDevice() throws Exception {
        try (FakePair pair = FakePair.roce();
                FakePair other = FakePair.roce()) {
            QueuePair owner = pair.connect().accepting();
            MemoryRegion region = bindable(pair);
            MemoryWindow closed = pair.domain.allocateWindow();
            closed.close();
            closed.close();
            MemoryWindow foreign = other.own(other.domain.allocateWindow());

            assertThrows(IllegalStateException.class, () -> owner.postBindWindow(1, closed, region, 0, 64, READ, 0));
            assertThrows(
                    IllegalArgumentException.class, () -> owner.postBindWindow(1, foreign, region, 0, 64, READ, 0));

            // Nothing holds on to the windows of the device.
            MemoryWindow window = pair.own(pair.domain.allocateWindow());
            owner.postBindWindow(2, window, region, 0, 64, READ, SendFlags.SIGNALLED);
            pair.success(owner, 2);
        }
    }

    @Test
    void shouldUnbindAWindowThatIsClosed() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            ConnectedPair connection = pair.connect();
            MemoryRegion region = bindable(pair);
            MemoryRegion sink = pair.region(64, AccessFlag.READ_SINK);
            MemoryWindow window = pair.domain.allocateWindow();
            connection.accepting().postBindWindow(1, window, region, 0, 64, READ, SendFlags.SIGNALLED);
            pair.success(connection.accepting(), 1);
            VerbsException busy = assertThrows(VerbsException.class, pair.domain::close);
            assertTrue(String.valueOf(busy.getMessage()).contains("1 memory windows"), busy::getMessage);

            window.close();

            connection.connecting().postRead(2, sink, 0, 8, region.address(), window.rkey(), SendFlags.SIGNALLED);
            assertEquals(CompletionStatus.REMOTE_ACCESS_ERROR, pair.completion().status());
        }
    }

    /** A key that no bind was posted with is none of the window's. */
    @Test
    void shouldGiveTheKeyBackWhenTheDriverDoesNotTakeTheBind() throws Exception {
        AtomicInteger refuseFrom = new AtomicInteger(Integer.MAX_VALUE);
        FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false) {
            @Override
            public Operations operations(long context) {
                return new DelegatingOperations(super.operations(context)) {
                    @Override
                    public int postSend(long queuePair, long workRequests, long bad) {
                        long refused = workRequests;
                        long before = 0;
                        for (int i = 0; i < refuseFrom.get() && refused != 0; i++) {
                            before = refused;
                            refused = CMemory.getLong(refused + WorkRequestAbi.SEND_NEXT);
                        }
                        if (refused == 0) {
                            return super.postSend(queuePair, workRequests, bad);
                        }
                        if (before != 0) {
                            CMemory.putLong(before + WorkRequestAbi.SEND_NEXT, 0);
                            super.postSend(queuePair, workRequests, bad);
                        }
                        CMemory.putLong(bad, refused);
                        return Errno.ENOMEM;
                    }
                };
            }
        };
        try (FakePair pair = new FakePair(library)) {
            QueuePair owner = pair.connect().accepting();
            MemoryRegion region = bindable(pair);
            MemoryWindow first = pair.own(pair.domain.allocateWindow());
            MemoryWindow second = pair.own(pair.domain.allocateWindow());
            owner.postBindWindow(0, first, region, 0, 8, READ, SendFlags.SIGNALLED);
            pair.success(owner, 0);
            SendWorkRequestList list = new SendWorkRequestList(2);
            list.next().invalidate(1, first.rkey(), SendFlags.SIGNALLED);
            list.next().bindWindow(2, second, READ, SendFlags.SIGNALLED).add(region, 8, 8);

            refuseFrom.set(1);
            owner.post(list);
            assertEquals(1, list.accepted());
            pair.success(owner, 1);
            assertEquals(0, second.rkey());

            refuseFrom.set(0);
            owner.postBindWindow(3, second, region, 8, 8, READ, SendFlags.SIGNALLED);
            assertEquals(0, second.rkey());
            refuseFrom.set(Integer.MAX_VALUE);
            owner.postBindWindow(4, second, region, 8, 8, READ, SendFlags.SIGNALLED);
            pair.success(owner, 4);
        }
    }
}
