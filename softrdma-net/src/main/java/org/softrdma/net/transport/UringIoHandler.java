package org.softrdma.net.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.uring.RingLoop;
import org.softrdma.net.uring.RingPort;

/**
 * A {@link RingLoop} as the I/O handler of one of Netty's event loops, which brings threads, tasks and timers. Netty's own
 * handler for io_uring cannot give provided buffers back for raw handles. Thread: its loop, except {@link #wakeup}.
 */
final class UringIoHandler implements IoHandler {
    private static final Logger LOG = LoggerFactory.getLogger(UringIoHandler.class);

    private final ThreadAwareExecutor executor;
    private final RingLoop loop;
    private final Set<Registration> registrations = new LinkedHashSet<>();
    private boolean started;

    private UringIoHandler(ThreadAwareExecutor executor) {
        this.executor = executor;
        try {
            loop = new RingLoop(new BufferOperations());
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /** @throws UncheckedIOException from the factory if the kernel has no ring for a loop */
    static IoHandlerFactory newFactory() {
        return UringIoHandler::new;
    }

    @Override
    public void initialize() {
        if (!started) {
            try {
                loop.start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            started = true;
        }
    }

    @Override
    public int run(IoHandlerContext context) {
        if (loop.isIdle() && context.canBlock()) {
            sleep(context);
        } else {
            loop.poll();
        }
        return loop.dispatch();
    }

    private void sleep(IoHandlerContext context) {
        loop.fallAsleep();
        try {
            // A task that was added before this look is seen by it; whoever adds one later finds the loop asleep.
            long timeoutNs = context.canBlock() ? context.delayNanos(System.nanoTime()) : 0;
            if (timeoutNs > 0) {
                loop.await(timeoutNs);
            } else {
                loop.poll();
            }
        } finally {
            loop.awake();
        }
    }

    @Override
    public void wakeup() {
        if (!executor.isExecutorThread(Thread.currentThread())) {
            loop.wake();
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        initialize(); // in manual progress sockets are opened before the loop runs
        Registration registration = new Registration((UringHandle) handle);
        try {
            registrations.add(registration);
        } catch (Error e) {
            boolean ignored = registration.cancel(); // nobody else knows of it
            throw e;
        }
        return registration;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return UringHandle.class.isAssignableFrom(type);
    }

    @Override
    public void prepareToDestroy() {
        for (Registration registration : List.copyOf(registrations)) {
            registration.close();
        }
    }

    @Override
    public void destroy() {
        prepareToDestroy(); // Netty leaves it out if the loop is shut down between two of its looks
        loop.close();
    }

    /** A descriptor of this loop. */
    private final class Registration implements IoRegistration {
        private final UringHandle handle;
        private final RingPort port;
        private boolean cancelled;

        Registration(UringHandle handle) {
            this.handle = handle;
            port = loop.open(handle.descriptor(), handle);
        }

        void close() {
            try {
                handle.close();
            } catch (RuntimeException e) {
                LOG.debug("cannot close descriptor {}", handle.descriptor(), e);
            }
            boolean ignored = cancel();
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as in the interface
        public <T> T attachment() {
            return (T) port;
        }

        @Override
        public long submit(IoOps ops) {
            if (cancelled) {
                return -1;
            }
            if (ops == UringHandle.Wanted.NONE) {
                port.pause();
            } else {
                port.rearm();
            }
            return 0;
        }

        @Override
        public boolean isValid() {
            return !cancelled;
        }

        @Override
        public boolean cancel() {
            boolean was = !cancelled;
            if (was) {
                cancelled = true;
                registrations.remove(this);
                port.close();
            }
            return was;
        }
    }
}
