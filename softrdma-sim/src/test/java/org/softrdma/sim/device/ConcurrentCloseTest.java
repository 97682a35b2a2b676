package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** Several threads close the same thing: each close returns when that is done, and none waits for ever. */
class ConcurrentCloseTest {
    private static final long DEADLINE_SECONDS = 30;
    private static final int CLOSERS = 3;

    /** A thread that closes something. */
    private record Closer(Thread thread, CompletableFuture<Void> done) {
        static Closer start(AutoCloseable what) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    what.close();
                    done.complete(null);
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            });
            return new Closer(thread, done);
        }

        boolean waits() {
            return switch (thread.getState()) {
                case WAITING, TIMED_WAITING, BLOCKED -> true;
                default -> false;
            };
        }

        void requireDone() {
            done.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        }
    }

    /** Threads that close something which cannot be closed yet. */
    private static List<Closer> closersThatWait(AutoCloseable what) {
        List<Closer> closers = List.of(Closer.start(what), Closer.start(what), Closer.start(what));
        assertEquals(CLOSERS, closers.size());
        TestDevice.await(
                "all closers to wait",
                () -> closers.stream().allMatch(closer -> closer.waits() || closer.done.isDone()));
        closers.forEach(closer -> assertFalse(closer.done.isDone(), "a close has returned before it was done"));
        return closers;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A device with one engine and two connected queue pairs. */
    private static final class Scene implements AutoCloseable {
        final TestDevice device = new TestDevice("threads", "1", "pinning", "off");
        final QueuePair connecting;
        final QueuePair accepting;

        Scene() {
            Connector connector = device.own(device.device().resolve(device.address(), TestDevice.DEADLINE_NS));
            connecting = device.own(connector.createQueuePair(
                    device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.DEFAULT)));
            CompletableFuture<Void> connected = CompletableFuture.runAsync(
                    () -> connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS),
                    task -> Thread.ofPlatform().daemon().start(task));
            var request = device.request();
            accepting = device.queuePair(request, QueuePairLimits.DEFAULT);
            request.accept(ConnectionParameters.ofReads(1));
            connected.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        }

        /** Runs something on the engine's thread when a queue pair is disconnected; returns when it runs. */
        CompletableFuture<Void> onEngine(Runnable action) {
            CountDownLatch runs = new CountDownLatch(1);
            CompletableFuture<Void> done = accepting
                    .disconnected()
                    .thenRun(() -> {
                        runs.countDown();
                        action.run();
                    })
                    .toCompletableFuture();
            connecting.disconnect();
            await(runs);
            return done;
        }

        @Override
        public void close() {
            device.close();
        }
    }

    @Test
    void shouldReturnFromEveryCloseOfAQueuePairOnlyOnceItIsDone() {
        try (Scene scene = new Scene()) {
            CountDownLatch mayGoOn = new CountDownLatch(1);
            CompletableFuture<Void> engine = scene.onEngine(() -> await(mayGoOn));
            List<Closer> closers = closersThatWait(scene.connecting);
            mayGoOn.countDown();
            closers.forEach(Closer::requireDone);
            engine.join();
        }
    }

    @Test
    void shouldReturnFromEveryCloseOfAListenerOnlyOnceItIsDone() {
        try (Scene scene = new Scene()) {
            CountDownLatch mayGoOn = new CountDownLatch(1);
            CompletableFuture<Void> engine = scene.onEngine(() -> await(mayGoOn));
            List<Closer> closers = closersThatWait(scene.device.listener());
            mayGoOn.countDown();
            closers.forEach(Closer::requireDone);
            engine.join();
        }
    }

    @Test
    void shouldReturnFromEveryCloseOfAConnectorOnlyOnceItIsDone() {
        try (Scene scene = new Scene()) {
            Connector connector =
                    scene.device.own(scene.device.device().resolve(scene.device.address(), TestDevice.DEADLINE_NS));
            scene.device.own(connector.createQueuePair(
                    scene.device.domain(), QueuePairAttributes.of(scene.device.queue(), QueuePairLimits.DEFAULT)));
            CountDownLatch mayGoOn = new CountDownLatch(1);
            CompletableFuture<Void> engine = scene.onEngine(() -> await(mayGoOn));
            List<Closer> closers = closersThatWait(connector);
            mayGoOn.countDown();
            closers.forEach(Closer::requireDone);
            engine.join();
        }
    }

    @Test
    void shouldNotWaitForEverWhenACallbackClosesWhatAnotherThreadIsClosing() {
        Scene scene = new Scene(); // closed at the end only: closing it would wait, too, if this fails
        CountDownLatch othersWait = new CountDownLatch(1);
        CompletableFuture<Void> engine = scene.onEngine(() -> {
            await(othersWait);
            scene.connecting.close();
            scene.accepting.close();
            scene.device.listener().close();
        });
        List<Closer> closers = List.of(
                Closer.start(scene.connecting), Closer.start(scene.accepting), Closer.start(scene.device.listener()));
        TestDevice.await("the closers to wait", () -> closers.stream().allMatch(Closer::waits));
        othersWait.countDown();
        engine.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        closers.forEach(Closer::requireDone);
        scene.close();
    }

    @Test
    void shouldReturnFromEveryCloseOfADeviceOnlyOnceItIsDone() {
        Transport transport = mock(Transport.class);
        when(transport.name()).thenReturn("none");
        EventLoop loop = mock(EventLoop.class);
        when(loop.inLoop()).thenReturn(true);
        when(loop.clock()).thenReturn(SystemNanoClock.INSTANCE);
        when(transport.loops()).thenReturn(List.of(loop));
        CountDownLatch stops = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        doAnswer(call -> {
                    stops.countDown();
                    await(mayGoOn);
                    return null;
                })
                .when(transport)
                .close();
        VerbsDevice device = new SoftRdmaDevice(new SoftRdmaContext().conclude().deviceSettings(), transport);
        List<Closer> closers = closersThatWait(device);
        await(stops);
        mayGoOn.countDown();
        closers.forEach(Closer::requireDone);
    }
}
