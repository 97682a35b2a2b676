package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.cm.Connector;

/**
 * Where an object was destroyed the next one is made; what is destroyed just after its event was acknowledged leaves
 * that to nobody.
 */
@Timeout(60)
class ReusedAddressTest {
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    private static final int DISCONNECTED = 10;

    private final Library library = new Library();
    private final CoreDevice device =
            new CoreDevice("fake", library, DeviceList.open(library), library.context(), Optional.empty());

    /** Remembers what it made and does something right after the next acknowledgement. */
    private static final class Library extends FakeVerbsLibrary {
        private final List<Long> ids = new CopyOnWriteArrayList<>();
        private final List<Long> queues = new CopyOnWriteArrayList<>();
        private final CountDownLatch secondResolve = new CountDownLatch(2);
        private final AtomicReference<Runnable> afterAcknowledgement = new AtomicReference<>(() -> {});

        Library() {
            super("fake0", false);
        }

        private void acknowledged() {
            afterAcknowledgement.getAndSet(() -> {}).run();
        }

        @Override
        public long createId(long channel, long cookie, int portSpace) {
            long made = super.createId(channel, cookie, portSpace);
            ids.add(made);
            return made;
        }

        @Override
        public int resolveAddress(long pointer, long source, long destination, int timeoutMs) {
            secondResolve.countDown();
            return super.resolveAddress(pointer, source, destination, timeoutMs);
        }

        @Override
        public int acknowledgeConnectionEvent(long event) {
            int errno = super.acknowledgeConnectionEvent(event);
            acknowledged();
            return errno;
        }

        @Override
        public long createCompletionQueue(long ofContext, int entries, long cookie, long channel, int vector) {
            long made = super.createCompletionQueue(ofContext, entries, cookie, channel, vector);
            queues.add(made);
            return made;
        }

        @Override
        public void acknowledgeCompletionEvents(long queue, int count) {
            super.acknowledgeCompletionEvents(queue, count);
            acknowledged();
        }
    }

    @AfterEach
    void closeEverything() {
        device.close();
        assertEquals(0, library.live(), "native objects left");
    }

    @Test
    void shouldNotEndTheConnectionThatHasTheAddressOfAnotherOne() {
        Connector before = device.resolve(PEER, TIMEOUT_NS);
        CompletableFuture<CompletableFuture<Connector>> resolving = new CompletableFuture<>();
        library.afterAcknowledgement.set(() -> {
            before.close();
            resolving.complete(CompletableFuture.supplyAsync(() -> device.resolve(PEER, TIMEOUT_NS)));
            awaitSecondResolve();
        });
        library.raiseConnectionEvent(DISCONNECTED, library.ids.getFirst());
        resolving.join().join().close();
        assertEquals(1, Set.copyOf(library.ids).size(), "addresses that were used");
    }

    private void awaitSecondResolve() {
        try {
            library.secondResolve.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldNotGiveTheEventOfAnotherQueueThatHadItsAddress() {
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue before = device.createCompletionQueue(16, channel, 0);
        CompletableFuture<CompletionQueue> after = new CompletableFuture<>();
        library.afterAcknowledgement.set(() -> {
            before.close();
            after.complete(device.createCompletionQueue(16, channel, 0));
        });
        library.raiseCompletionEvent(library.queues.getFirst());
        assertEquals(Optional.empty(), channel.await(0));
        assertEquals(1, Set.copyOf(library.queues).size(), "addresses that were used");
        after.join().close();
        channel.close();
    }
}
