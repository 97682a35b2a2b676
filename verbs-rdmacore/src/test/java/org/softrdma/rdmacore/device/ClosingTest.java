package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** In which order things may be closed, that what was closed leaves no thread busy, and a device that was removed. */
@Timeout(60)
class ClosingTest {
    private static final long SHORT_NS = 50_000_000;

    private static final int LOOKS = 1000;
    private static final long DEADLINE_SECONDS = 30;

    private final Library library = new Library();
    private final CoreDevice device =
            new CoreDevice("fake", library, DeviceList.open(library), library.context(), Optional.empty());
    private final ProtectionDomain domain = device.allocateProtectionDomain();

    /** Its device can be removed; it counts waits that were over at once. */
    private static final class Library extends FakeVerbsLibrary {
        private final Thread test = Thread.currentThread();
        private final AtomicReference<Runnable> whenWoken = new AtomicReference<>(() -> {});
        private final AtomicInteger readable = new AtomicInteger();
        private volatile boolean removed;
        private volatile Runnable whenEnding = () -> {};

        Library() {
            super("fake0", true);
        }

        @Override
        public void wake(int descriptor) {
            if (Thread.currentThread() == test) {
                whenWoken.getAndSet(() -> {}).run();
            }
            super.wake(descriptor);
        }

        /** Of a completion channel and its wake descriptor; the former is always readable on a removed device. */
        @Override
        public int poll(long polled, int count, int timeoutMs) {
            boolean failed = removed && count == 2;
            int ready = failed ? 1 : super.poll(polled, count, timeoutMs);
            if (Thread.currentThread() == test && ready > 0) {
                readable.incrementAndGet();
            }
            return ready;
        }

        @Override
        public long getCompletionEvent(long channel) {
            return removed ? -Errno.EIO : super.getCompletionEvent(channel);
        }

        private int answer(int errno) {
            whenEnding.run();
            return removed ? Errno.EIO : errno;
        }

        @Override
        public int destroyCompletionChannel(long channel) {
            return answer(super.destroyCompletionChannel(channel));
        }

        @Override
        public int destroyCompletionQueue(long queue) {
            return answer(super.destroyCompletionQueue(queue));
        }

        @Override
        public int deregisterRegion(long region) {
            return answer(super.deregisterRegion(region));
        }

        @Override
        public int deallocateDomain(long ofDevice) {
            return answer(super.deallocateDomain(ofDevice));
        }
    }

    @AfterEach
    void closeEverything() {
        domain.close();
        device.close();
        assertEquals(0, library.live(), "native objects left");
    }

    @Test
    void shouldTellTheEndBeforeTheRestCanBeClosed() {
        CompletionQueue queue = device.createCompletionQueue(16);
        ConnectedPair pair = ConnectedPair.of(device, domain, queue);
        pair.accepting().close();
        AtomicReference<VerbsErrorCode> whenTold = new AtomicReference<>();
        library.whenWoken.set(() ->
                whenTold.set(assertThrows(VerbsException.class, domain::close).code()));
        pair.connecting().close();
        assertEquals(VerbsErrorCode.BUSY, whenTold.get());
        queue.close();
    }

    private CompletionQueue armed(CompletionChannel channel) {
        CompletionQueue queue = device.createCompletionQueue(16, channel, 0);
        queue.requestNotification(false);
        return queue;
    }

    @Test
    void shouldWaitOnWhenAQueueClosedWithAnEventThatNobodyTook() {
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue queue = armed(channel);
        ((IbvCompletionQueue) queue).overrun();
        queue.close();
        assertEquals(Optional.empty(), channel.await(SHORT_NS));
        assertTrue(library.readable.get() <= 1, library.readable + " waits of one await were over at once");
        channel.close();
    }

    @Test
    void shouldWaitOnWhenTheDeviceWasRemoved() {
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue queue = armed(channel);
        library.removed = true;
        assertEquals(Optional.empty(), channel.await(SHORT_NS));
        assertTrue(library.readable.get() <= 1, library.readable + " waits of one await were over at once");
        ((IbvCompletionQueue) queue).overrun();
        assertEquals(Optional.of(queue), channel.await(SHORT_NS));
        queue.acknowledgeEvents(1);
        queue.close();
        channel.close();
    }

    @Test
    void shouldCloseEverythingOfARemovedDevice() {
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue queue = device.createCompletionQueue(16, channel, 0);
        ConnectedPair pair = ConnectedPair.of(device, domain, queue);
        HostMemory memory = device.allocateMemory(64);
        MemoryRegion region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE));
        library.removed = true;
        pair.close();
        region.close();
        memory.close();
        queue.close();
        channel.close();
    }

    @Test
    void shouldReturnFromASecondCloseOnlyOnceTheFirstIsDone() {
        HostMemory memory = device.allocateMemory(64);
        MemoryRegion region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE));
        requireSecondWaits(region::close);
        memory.close();
        requireSecondWaits(device.allocateProtectionDomain()::close);
        requireSecondWaits(device.createCompletionQueue(16)::close);
        requireSecondWaits(device.createCompletionChannel()::close);
    }

    /** Two threads close something whose native end takes its time. */
    private void requireSecondWaits(Runnable close) {
        CountDownLatch ends = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        library.whenEnding = () -> {
            ends.countDown();
            await(mayGoOn);
        };
        CompletableFuture<Void> first = inAThread(close);
        await(ends);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> second = inAThread(() -> {
            begun.countDown();
            close.run();
        });
        await(begun);
        for (int i = 0; i < LOOKS; i++) {
            assertFalse(second.isDone(), "the second close has returned before the first");
            Thread.yield();
        }
        mayGoOn.countDown();
        first.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        second.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        library.whenEnding = () -> {};
    }

    private static CompletableFuture<Void> inAThread(Runnable task) {
        return CompletableFuture.runAsync(
                task, run -> Thread.ofPlatform().daemon().start(run));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
