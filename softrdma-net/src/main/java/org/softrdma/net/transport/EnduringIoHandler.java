package org.softrdma.net.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * An I/O handler whose Errors do not end its loop's thread, and with it every connection. Netty and the JDK allocate
 * objects for some events (epoll's EPOLLHUP, a selector's keys), for which there may be no memory. The events of that
 * round are lost, so every edge-triggered socket is re-armed to raise them again. A broken handler throws an exception,
 * which ends the thread as before.
 *
 * <p>Thread: its loop.
 */
final class EnduringIoHandler implements IoHandler {
    /** A source that raises each event once, and can be made to raise it again. */
    interface EdgeTriggered {
        /** Raises what is ready again. */
        void rearm();

        /** True once it raises no more events. */
        boolean isClosed();
    }

    private static final Logger LOG = LoggerFactory.getLogger(EnduringIoHandler.class);
    private static final Predicate<EdgeTriggered> CLOSED = EdgeTriggered::isClosed;
    private static final int LEAST_SOCKETS = 64;

    private final IoHandler handler;
    private final List<EdgeTriggered> sockets = new ArrayList<>();
    /** When the list has this many sockets, closed ones are removed. */
    private int full = LEAST_SOCKETS;

    private boolean eventsLost;
    private boolean failing;

    private EnduringIoHandler(IoHandler handler) {
        this.handler = handler;
    }

    /** Wraps the handlers of another factory. */
    static IoHandlerFactory around(IoHandlerFactory factory) {
        return executor -> new EnduringIoHandler(factory.newHandler(executor));
    }

    @Override
    public void initialize() {
        handler.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        try {
            if (eventsLost) {
                rearmAll();
                eventsLost = false;
            }
            int events = handler.run(context);
            failing = false;
            return events;
        } catch (Error e) {
            eventsLost = true;
            boolean first = !failing;
            failing = true;
            LoopGuard.pause();
            if (first) {
                FaultLog.tell(LOG, Level.ERROR, "polling the sockets failed; polling again", e);
            }
            return 0;
        }
    }

    /** Uses no iterator, because there may be no memory for one. */
    private void rearmAll() {
        for (int i = 0; i < sockets.size(); i++) {
            try {
                sockets.get(i).rearm();
            } catch (RuntimeException e) {
                FaultLog.tell(LOG, Level.DEBUG, "cannot re-arm a socket", e);
            }
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        if (handle instanceof EdgeTriggered socket) {
            if (sockets.size() >= full) {
                sockets.removeIf(CLOSED);
                full = Math.max(LEAST_SOCKETS, 2 * sockets.size());
            }
            sockets.add(socket);
        }
        return handler.register(handle);
    }

    @Override
    public void prepareToDestroy() {
        handler.prepareToDestroy();
    }

    @Override
    public void destroy() {
        handler.destroy();
    }

    @Override
    public void wakeup() {
        handler.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return handler.isCompatible(type);
    }
}
