package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.rdmacore.fake.DelegatingOperations;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/** Which GID queue pairs without an id send from, and that no driver sees an address handle that is destroyed. */
class AddressHandleTest {
    private static final int KEY = 77;
    private static final InetSocketAddress IPV4 = address("10.0.2.15");
    private static final InetSocketAddress IPV6 = address("fd00::2");

    private static InetSocketAddress address(String host) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), QueuePairAddress.PORT);
        } catch (java.net.UnknownHostException e) {
            throw new IllegalArgumentException(host, e);
        }
    }

    /** Does something at each post, before the driver gets it. */
    private static final class Library extends FakeVerbsLibrary {
        private volatile @Nullable Runnable atPost;
        private volatile boolean destroyed;

        Library() {
            super("fake0", false);
        }

        @Override
        public int destroyAddressHandle(long handle) {
            destroyed = true;
            return super.destroyAddressHandle(handle);
        }

        @Override
        public Operations operations(long context) {
            return new DelegatingOperations(super.operations(context)) {
                @Override
                public int postSend(long queuePair, long workRequests, long bad) {
                    Runnable action = atPost;
                    if (action != null) {
                        action.run();
                    }
                    return super.postSend(queuePair, workRequests, bad);
                }
            };
        }
    }

    private static QueuePairAttributes datagrams(FakePair pair) {
        return QueuePairAttributes.of(pair.queue, QueuePairLimits.DEFAULT).withDatagrams(KEY);
    }

    @Test
    void shouldKeepAHandleUntilThePostIsDoneThatUsesIt() throws InterruptedException {
        Library library = new Library();
        Thread closer;
        try (FakePair pair = new FakePair(library)) {
            UnconnectedQueuePair queuePair = pair.own(pair.domain.createQueuePair(datagrams(pair)));
            AddressHandle handle = pair.own(pair.domain.createAddressHandle(IPV4));
            MemoryRegion region = pair.region(8, AccessFlag.LOCAL_WRITE);
            closer = new Thread(handle::close);
            library.atPost = () -> {
                closer.start();
                while (closer.getState() != Thread.State.WAITING && closer.isAlive()) {
                    Thread.onSpinWait();
                }
                assertFalse(library.destroyed, "the driver is about to read the handle");
            };
            queuePair.postSendTo(1, region, 0, 8, handle, queuePair.number(), KEY, SendFlags.SIGNALLED);
            library.atPost = null;
            closer.join();
            assertTrue(library.destroyed);
            pair.success(queuePair, 1);
            library.atPost = () -> fail("the driver is given a handle that it has destroyed");
            assertThrows(
                    IllegalStateException.class,
                    () -> queuePair.postSendTo(2, region, 0, 8, handle, queuePair.number(), KEY, SendFlags.SIGNALLED));
        }
    }

    private static void withDevice(Optional<InetSocketAddress> address, Consumer<ProtectionDomain> use) {
        FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false);
        try (VerbsDevice device =
                        new CoreDevice("fake", library, DeviceList.open(library), library.context(), address);
                ProtectionDomain domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(4)) {
            QueuePairAttributes attributes = QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1));
            try (UnconnectedQueuePair queuePair = domain.createQueuePair(attributes)) {
                assertEquals(
                        address.orElse(IPV4).getAddress(),
                        queuePair.address().host().getAddress());
                assertEquals(QueuePairAddress.PORT, queuePair.address().host().getPort());
            }
            use.accept(domain);
        }
        assertEquals(0, library.live(), "native objects left");
    }

    /** The first entry of the table is a link-local address. */
    @Test
    void shouldPreferIpv4() {
        withDevice(Optional.empty(), domain -> {
            domain.createAddressHandle(IPV4).close();
            assertThrows(IllegalArgumentException.class, () -> domain.createAddressHandle(IPV6));
        });
    }

    @Test
    void shouldSendFromTheAddressOfTheOption() {
        withDevice(Optional.of(IPV6), domain -> {
            domain.createAddressHandle(IPV6).close();
            assertThrows(IllegalArgumentException.class, () -> domain.createAddressHandle(IPV4));
        });
    }

    @Test
    void shouldRefuseAPortThatKernelsAndCardsDoNotSendTo() {
        withDevice(Optional.empty(), domain -> {
            VerbsException refused = assertThrows(
                    VerbsException.class,
                    () -> domain.createAddressHandle(new InetSocketAddress(IPV4.getAddress(), 4792)));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
        });
    }

    @Test
    void shouldSayThatAHostCannotBeFound() {
        withDevice(Optional.empty(), domain -> {
            VerbsException refused =
                    assertThrows(VerbsException.class, () -> domain.createAddressHandle(address("10.9.9.9")));
            assertEquals(VerbsErrorCode.UNREACHABLE, refused.code());
        });
    }

    @Test
    void shouldSayThatTheDeviceHasNoSuchAddress() {
        FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false);
        try (VerbsDevice device = new CoreDevice(
                        "fake",
                        library,
                        DeviceList.open(library),
                        library.context(),
                        Optional.of(address("10.9.9.9")));
                ProtectionDomain domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(4)) {
            QueuePairAttributes attributes = QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1));
            VerbsException refused = assertThrows(VerbsException.class, () -> domain.createQueuePair(attributes));
            assertEquals(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains("10.9.9.9"), refused::getMessage);
        }
        assertEquals(0, library.live(), "native objects left");
    }

    @Test
    void shouldGoToErrorWhenItCannotConnect() {
        try (FakePair pair = FakePair.roce()) {
            UnconnectedQueuePair queuePair =
                    pair.own(pair.domain.createQueuePair(QueuePairAttributes.of(pair.queue, QueuePairLimits.of(1, 1))));
            QueuePairAddress nowhere = new QueuePairAddress(address("10.9.9.9"), 17, 1, 1024);
            MemoryRegion region = pair.region(8, AccessFlag.RECEIVE_SINK);
            queuePair.postReceive(5, region, 0, 8);
            assertThrows(VerbsException.class, () -> queuePair.connect(nowhere, 1, 1));
            WorkCompletion flushed = pair.completion();
            assertEquals(5, flushed.wrId());
            assertFalse(flushed.isSuccess());
        }
    }

    /** Neither end knows a packet of the other that a stranger could guess. */
    @Test
    void shouldDrawTheFirstSequenceAtRandom() {
        try (FakePair pair = FakePair.roce()) {
            QueuePairAttributes attributes = QueuePairAttributes.of(pair.queue, QueuePairLimits.of(1, 1));
            long different = java.util.stream.IntStream.range(0, 8)
                    .map(i -> pair.own(pair.domain.createQueuePair(attributes))
                            .address()
                            .sequence())
                    .distinct()
                    .count();
            assertTrue(different > 4, () -> different + " different sequences of 8");
        }
    }
}
