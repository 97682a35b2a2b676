package org.softrdma.sim.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.sim.connection.PassiveHandshake;
import org.softrdma.sim.engine.EnduringQueue;
import org.softrdma.sim.engine.OnLoopOnce;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.AddressText;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.FaultLog;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/**
 * Accepts TCP connections, gives each to an engine for its handshake, and queues the requests that come of it. A queue that is
 * full rejects. The queue is under one lock: engines add, application threads take.
 */
final class SoftListener implements Listener {
    private static final Logger LOG = LoggerFactory.getLogger(SoftListener.class);
    private static final byte[] NO_DATA = {};
    /** TCP connections that may wait for accept(2); a small number makes connects hang under a burst. */
    private static final int LEAST_TCP_BACKLOG = 1024;

    /** TCP connections that have not sent their MPA request; a further one is closed. */
    private static final int MOST_HANDSHAKES = 16_384;

    private final SoftRdmaDevice device;
    private final AtomicInteger handshaking = new AtomicInteger();
    private final int backlog;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final EnduringQueue<PassiveHandshake> requests = new EnduringQueue<>();
    private boolean closed;
    private final OnLoopOnce end;
    /** First loop only. */
    private boolean fullLogged;

    private volatile @Nullable Acceptor acceptor;

    SoftListener(SoftRdmaDevice device, int backlog) {
        this.device = device;
        this.backlog = backlog;
        end = new OnLoopOnce(device.firstEngine(), this::endListening);
    }

    void open(EventLoop loop, InetSocketAddress local) throws IOException {
        acceptor = loop.listen(local, Math.max(backlog, LEAST_TCP_BACKLOG), this::accepted);
    }

    private void accepted(EventLoop.PendingSocket pending) {
        if (handshaking.get() >= MOST_HANDSHAKES) {
            device.handshakeRefused();
            if (!fullLogged) {
                fullLogged = true;
                LOG.warn(
                        "{} connections have not sent their MPA request: further ones are closed at once until some"
                                + " have (logged once; the counter handshakeErrors counts them)",
                        MOST_HANDSHAKES);
            }
            pending.discard();
            return;
        }
        handshaking.incrementAndGet();
        try {
            new PassiveHandshake(device.newConnection(), this::requested, handshaking::decrementAndGet).adopt(pending);
        } catch (RuntimeException | Error e) {
            // Its engine never had it, so nobody else gives it back.
            handshaking.decrementAndGet();
            pending.discard();
            device.handshakeRefused();
            FaultLog.tell(LOG, Level.ERROR, "an accepted connection found no engine", e);
        }
    }

    private void requested(PassiveHandshake handshake) {
        boolean taken;
        lock.lock();
        try {
            taken = !closed && requests.size() < backlog;
            if (taken) {
                requests.addLast(handshake);
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
        if (!taken) {
            LOG.info(
                    "rejected {}: the listener is closed or its backlog of {} requests is full",
                    AddressText.of(handshake.remoteAddress()),
                    backlog);
            handshake.reject(NO_DATA);
        }
    }

    @Override
    public InetSocketAddress localAddress() {
        Acceptor current = acceptor;
        if (current == null) {
            throw new IllegalStateException("the listener is not open");
        }
        return current.localAddress();
    }

    @Override
    public Optional<ConnectionRequest> next(long timeoutNs) {
        device.progress().checkThread();
        if (device.progress().isThreaded()) {
            return take(timeoutNs);
        }
        device.progress().await(() -> !requests.isEmpty() || closed, timeoutNs, "a connection request");
        return take(0);
    }

    private Optional<ConnectionRequest> take(long timeoutNs) {
        lock.lock();
        try {
            long remainingNs = timeoutNs;
            while (requests.isEmpty() && !closed && remainingNs > 0) {
                remainingNs = changed.awaitNanos(remainingNs);
            }
            PassiveHandshake handshake = requests.peekFirst();
            if (handshake == null) {
                return Optional.empty();
            }
            Optional<ConnectionRequest> request = Optional.of(new SoftConnectionRequest(device, handshake));
            PassiveHandshake ignored =
                    requests.pollFirst(); // last: if there is no memory for what the application gets, it can ask again
            return request;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(
                    VerbsErrorCode.INTERRUPTED, "interrupted while waiting for a connection request", e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        device.progress().checkThread();
        rejectWaiting();
        end.run();
    }

    private void rejectWaiting() {
        lock.lock();
        try {
            closed = true;
            for (PassiveHandshake next = requests.pollFirst(); next != null; next = requests.pollFirst()) {
                boolean ignored = next.reject(NO_DATA);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void endListening() {
        Acceptor current = acceptor;
        try {
            if (current != null) {
                device.stoppedListening(current.localAddress());
                current.close();
            }
        } finally {
            device.childClosed();
        }
    }
}
