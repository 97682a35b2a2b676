package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Whose an interrupt is: that of a thread which runs a loop by hand is its own, a loop's own thread has no use for one. */
class InterruptedLoopTest {
    private static final SocketOptions OPTIONS = new SocketOptions(0, 0, 0);
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(10);

    private static Transport openManual(String kind) throws IOException {
        return TransportKinds.open(kind, true, OPTIONS);
    }

    @ParameterizedTest
    @EveryTransport
    void shouldLeaveAnInterruptToTheThreadThatRunsIt(String kind) throws IOException {
        try (Transport transport = openManual(kind)) {
            EventLoop loop = transport.loops().getFirst();
            Thread.currentThread().interrupt();
            assertEquals(0, loop.run(TURN_NS));
            assertTrue(Thread.interrupted(), "the interrupt was lost");
        } finally {
            boolean ignored = Thread.interrupted();
        }
    }

    @Test
    void shouldNotSpinWhenACallbackHasInterruptedTheLoopsOwnThread() throws Exception {
        try (Transport transport = NettyTransport.nio(1, false, OPTIONS)) {
            EventLoop loop = transport.loops().getFirst();
            loop.execute(() -> Thread.currentThread().interrupt());
            long start = System.nanoTime();
            while (isInterrupted(loop)) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "with its flag set a selector does not wait");
            }
        }
    }

    private static boolean isInterrupted(EventLoop loop) throws Exception {
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        loop.execute(() -> flag.complete(Thread.currentThread().isInterrupted()));
        return flag.get(DEADLINE_NS, TimeUnit.NANOSECONDS);
    }
}
