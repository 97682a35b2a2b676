package org.softrdma.net.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Drives channels of java.nio by one selector. An interrupt ends a wait and stays set on its thread: Netty's own
 * {@code NioIoHandler} clears it, and in manual progress that thread is the application's. Thread: its loop, except
 * {@link #wakeup}.
 */
final class SelectorIoHandler implements IoHandler {
    private static final Logger LOG = LoggerFactory.getLogger(SelectorIoHandler.class);
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ThreadAwareExecutor executor;
    private final boolean ownThread;
    private final Selector selector;
    /** Copied from the selector before any is handled, because a handler may select, too. */
    private final List<SelectionKey> ready = new ArrayList<>();

    private final Consumer<SelectionKey> collect = ready::add;

    private SelectorIoHandler(ThreadAwareExecutor executor, boolean ownThread) {
        this.executor = executor;
        this.ownThread = ownThread;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a selector", e);
        }
    }

    /**
     * Handlers of one kind of loop.
     *
     * @param ownThread the loop has a thread of its own, which nobody needs to interrupt
     */
    static IoHandlerFactory newFactory(boolean ownThread) {
        return executor -> new SelectorIoHandler(executor, ownThread);
    }

    @Override
    public int run(IoHandlerContext context) {
        ready.clear();
        try {
            select(context.canBlock() ? context.delayNanos(System.nanoTime()) : 0);
        } catch (IOException e) {
            throw new UncheckedIOException("the selector failed", e);
        }
        for (SelectionKey key : ready) {
            ((Registration) key.attachment()).raise();
        }
        return ready.size();
    }

    private void select(long timeoutNs) throws IOException {
        if (timeoutNs <= 0) {
            selector.selectNow(collect);
            return;
        }
        selector.select(collect, Math.ceilDiv(timeoutNs, NS_PER_MS));
        if (ownThread && Thread.interrupted()) {
            LOG.debug("interrupt ignored and cleared: the selector would not wait while it is set");
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) throws IOException {
        return new Registration((NioIoHandle) handle);
    }

    @Override
    public void wakeup() {
        if (!executor.isExecutorThread(Thread.currentThread())) {
            selector.wakeup();
        }
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return NioIoHandle.class.isAssignableFrom(type);
    }

    @Override
    public void prepareToDestroy() {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            ((Registration) key.attachment()).close();
        }
    }

    @Override
    public void destroy() {
        try {
            selector.close();
        } catch (IOException e) {
            LOG.warn("cannot close the selector", e);
        }
    }

    /** A channel: what it waits for and, while it is handled, what it is ready for. */
    private final class Registration implements IoRegistration, NioIoEvent {
        private final NioIoHandle handle;
        private final SelectionKey key;

        Registration(NioIoHandle handle) throws IOException {
            this.handle = handle;
            key = handle.selectableChannel().register(selector, 0, this);
        }

        void raise() {
            if (!isValid()) {
                return;
            }
            try {
                handle.handle(this, this);
            } catch (RuntimeException | Error e) {
                FaultLog.tell(LOG, Level.ERROR, "handling a socket failed", e);
            }
        }

        void close() {
            cancel();
            try {
                handle.close();
            } catch (Exception e) {
                LOG.debug("cannot close {}", key.channel(), e);
            }
        }

        @Override
        public NioIoOps ops() {
            return NioIoOps.valueOf(key.readyOps());
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as in the interface
        public <T> T attachment() {
            return (T) key;
        }

        @Override
        public long submit(IoOps ops) {
            if (!isValid()) {
                return -1;
            }
            int interest = ((NioIoOps) ops).value();
            key.interestOps(interest);
            return interest;
        }

        @Override
        public boolean isValid() {
            return key.isValid();
        }

        @Override
        public boolean cancel() {
            boolean was = isValid();
            key.cancel();
            return was;
        }
    }
}
