package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No Error ends the thread of a loop, and none loses a timer. */
class EnduringLoopTest {
    private static final int DEADLINE_S = 20;

    /** What the I/O handler throws next. */
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

    private final IoHandlerFactory handlers = executor -> new Inner();
    private final MultiThreadIoEventLoopGroup group =
            new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("enduring", true), handlers) {
                @Override
                protected IoEventLoop newChild(Executor executor, IoHandlerFactory factory, Object... arguments) {
                    return new EnduringLoop(this, executor, factory);
                }
            };
    private final EnduringLoop loop = (EnduringLoop) group.next();

    private final class Inner implements IoHandler {
        @Override
        public int run(IoHandlerContext context) {
            Throwable failure = failures.poll();
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            Thread.onSpinWait();
            return 0;
        }

        @Override
        public IoRegistration register(IoHandle handle) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void wakeup() {}

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return true;
        }
    }

    @AfterEach
    void close() {
        assertTrue(group.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(DEADLINE_S, TimeUnit.SECONDS));
    }

    private void requireThatItRuns() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        loop.execute(ran::countDown);
        assertTrue(ran.await(DEADLINE_S, TimeUnit.SECONDS), "the loop runs no tasks");
    }

    @Test
    void shouldGoOnAfterErrorsThatNobodyCaught() throws Exception {
        requireThatItRuns();
        failures.add(new OutOfMemoryError("injected"));
        failures.add(new NoClassDefFoundError("injected"));
        while (!failures.isEmpty()) {
            Thread.onSpinWait();
        }
        requireThatItRuns();
    }

    @Test
    void shouldSayThatItEndsWhenItsHandlerIsBroken() throws Exception {
        CountDownLatch said = new CountDownLatch(1);
        loop.whenBroken(said::countDown);
        requireThatItRuns();
        failures.add(new UncheckedIOException(new IOException("injected")));

        assertTrue(said.await(DEADLINE_S, TimeUnit.SECONDS));
        assertTrue(loop.terminationFuture().await(DEADLINE_S, TimeUnit.SECONDS));
    }

    @Test
    void shouldKeepATimerThatIsDueUntilThereIsMemoryForIt() throws Exception {
        AtomicInteger failing = new AtomicInteger(3);
        CountDownLatch ran = new CountDownLatch(1);
        CountDownLatch fetched = new CountDownLatch(1);
        Queue<Runnable> tasks = new LinkedBlockingQueue<>() {
            @Override
            public boolean offer(Runnable task) {
                if (failing.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("injected");
                }
                return super.offer(task);
            }
        };
        loop.execute(() -> {
            var ignored = loop.schedule(ran::countDown, 0, TimeUnit.NANOSECONDS);
            while (tasks.isEmpty()) {
                boolean whole = loop.fetchFromScheduledTaskQueue(tasks);
                assertEquals(!tasks.isEmpty(), whole);
            }
            tasks.remove().run();
            fetched.countDown();
        });
        assertTrue(fetched.await(DEADLINE_S, TimeUnit.SECONDS));
        assertTrue(ran.await(DEADLINE_S, TimeUnit.SECONDS));
        assertTrue(failing.get() < 0);
    }
}
