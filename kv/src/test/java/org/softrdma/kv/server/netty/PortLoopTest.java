package org.softrdma.kv.server.netty;

import static org.junit.jupiter.api.Assertions.assertSame;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server whose loop an Error has ended knows of it, though there may be no memory for the news. */
class PortLoopTest {
    private static final int DEADLINE_S = 20;

    private final Error error = new OutOfMemoryError("injected");

    /** Its first look at its sockets fails. */
    private final class Failing implements IoHandler {
        @Override
        public int run(IoHandlerContext context) {
            throw error;
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

    @Test
    void shouldTellOfTheErrorOnItsOwnThread() throws Exception {
        BlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        MultiThreadIoEventLoopGroup group =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("port", true), executor -> new Failing()) {
                    @Override
                    protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... arguments) {
                        return new PortLoop(this, executor, handlers, cause -> {
                            if (executor(Thread.currentThread())) {
                                told.add(cause);
                            }
                        });
                    }

                    private boolean executor(Thread thread) {
                        return next().inEventLoop(thread);
                    }
                };
        group.execute(() -> {});

        assertSame(error, told.poll(DEADLINE_S, TimeUnit.SECONDS));
    }
}
