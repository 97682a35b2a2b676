package org.softrdma.ibverbs.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The thread of all connections: what it runs, what does not end it, and that nothing touches a channel that is
 * closed.
 */
class ConnectionThreadTest {
    private static final long TIMEOUT_S = 30;

    private final Channel channel = new Channel();

    /** No events; its waits end when it is woken. */
    private static final class Channel extends ConnectionThread {
        private final Semaphore wakes = new Semaphore(0);
        private final AtomicInteger wakesAfterTheEnd = new AtomicInteger();
        private volatile boolean closed;

        @Override
        protected void takeEvents() {
            wakes.acquireUninterruptibly();
        }

        @Override
        protected void wake() {
            if (closed) {
                wakesAfterTheEnd.incrementAndGet();
            }
            wakes.release();
        }

        @Override
        protected void closeChannel() {
            closed = true;
        }
    }

    @Test
    void shouldNotWakeAChannelThatIsClosed() {
        AtomicInteger ran = new AtomicInteger();
        channel.start("test");
        channel.execute(ran::incrementAndGet);
        channel.close();
        assertEquals(1, ran.get());
        channel.execute(ran::incrementAndGet);
        assertEquals(0, channel.wakesAfterTheEnd.get());
        assertEquals(1, ran.get());
    }

    @Test
    void shouldGoOnAfterATaskThatEndedInAnError() throws InterruptedException {
        CountDownLatch second = new CountDownLatch(1);
        channel.start("test");
        channel.execute(() -> {
            throw new NoClassDefFoundError("whatever");
        });
        channel.execute(second::countDown);
        assertTrue(second.await(TIMEOUT_S, TimeUnit.SECONDS), "the thread has ended");
        channel.close();
    }
}
