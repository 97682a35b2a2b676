package org.softrdma.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.agrona.concurrent.Agent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreServer;
import org.softrdma.verbs.device.VerbsDevice;

/** The threads of a server and its workers. */
class ServingThreadTest {
    private static final long DEADLINE_S = 60;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Worker good = new Worker(null);

    /** Does nothing, or fails. */
    private static final class Worker implements Agent {
        private final @Nullable Error failure;
        private volatile @Nullable Thread thread;

        Worker(@Nullable Error failure) {
            this.failure = failure;
        }

        @Override
        public int doWork() {
            thread = Thread.currentThread();
            if (failure != null) {
                throw failure;
            }
            return 0;
        }

        @Override
        public String roleName() {
            return "worker";
        }

        boolean isAlive() {
            Thread of = thread;
            return of != null && of.isAlive();
        }
    }

    /** A server of some workers, which must have ended when it is closed. */
    private record Server(List<Worker> workers) implements StoreServer {
        @Override
        public InetSocketAddress address() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        }

        @Override
        public int doWork() {
            return 0;
        }

        @Override
        public String roleName() {
            return "server";
        }

        @Override
        public List<Agent> detachWorkers() {
            return List.copyOf(workers);
        }

        @Override
        public SpaceUse space() {
            return new SpaceUse(0, 0, 0, 0);
        }

        @Override
        public void close() {
            if (workers.stream().anyMatch(Worker::isAlive)) {
                throw new AssertionError("a worker is running when the server is closed");
            }
        }
    }

    private ServingThread serving(IntFunction<Optional<String>> pinning, Worker... workers) {
        VerbsDevice device = (VerbsDevice) Proxy.newProxyInstance(
                VerbsDevice.class.getClassLoader(),
                new Class<?>[] {VerbsDevice.class},
                (proxy, method, arguments) -> method.getReturnType() == String.class ? "mock" : null);
        return ServingThread.start(
                () -> device,
                opened -> new Server(List.of(workers)),
                () -> (worked, on) -> Thread.onSpinWait(),
                pinning,
                ended::countDown);
    }

    private void awaitEnd() throws InterruptedException {
        assertTrue(ended.await(DEADLINE_S, TimeUnit.SECONDS), "it goes on");
    }

    /** Its part of the keys may be half changed, so nobody goes on as if nothing had happened. */
    @Test
    void shouldStopAllIfAWorkerFails() throws Exception {
        OutOfMemoryError failure = new OutOfMemoryError("thrown by a worker");
        ServingThread serving = serving(worker -> Optional.empty(), good, new Worker(failure));
        awaitEnd();
        assertSame(failure, assertThrows(OutOfMemoryError.class, serving::close));
        assertFalse(good.isAlive());
    }

    @Test
    void shouldStopAllIfAWorkerCannotBePinned() throws Exception {
        ServingThread serving =
                serving(worker -> worker == 1 ? Optional.of("no") : Optional.empty(), good, new Worker(null));
        awaitEnd();
        assertEquals(
                "--pin: no",
                assertThrows(UserErrorException.class, serving::close).getMessage());
    }

    @Test
    void shouldCloseTheServerOnceItsWorkersHaveEnded() throws Exception {
        ServingThread serving = serving(worker -> Optional.empty(), good, new Worker(null));
        assertEquals(2, serving.awaitStart().workers());
        serving.close();
        awaitEnd();
    }
}
