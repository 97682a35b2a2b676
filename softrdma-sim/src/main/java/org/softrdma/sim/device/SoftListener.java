package org.softrdma.sim.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.sim.engine.EnduringQueue;
import org.softrdma.sim.engine.OnLoopOnce;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.AddressText;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/**
 * Queues the requests of peers. A queue that is full rejects. The queue is under one lock: engines add, application
 * threads take.
 */
final class SoftListener implements Listener {
    private static final Logger LOG = LoggerFactory.getLogger(SoftListener.class);
    private static final byte[] NO_DATA = {};

    private final SoftRdmaDevice device;
    private final int backlog;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final EnduringQueue<PeerRequest> requests = new EnduringQueue<>();
    private boolean closed;
    private final OnLoopOnce end;
    private volatile @Nullable Acceptor acceptor;

    SoftListener(SoftRdmaDevice device, int backlog) {
        this.device = device;
        this.backlog = backlog;
        end = new OnLoopOnce(device.firstEngine(), this::endListening);
    }

    void open(Wire wire, InetSocketAddress local) throws IOException {
        acceptor = wire.listen(local, backlog, this::requested);
    }

    private void requested(PeerRequest request) {
        boolean taken;
        lock.lock();
        try {
            taken = !closed && requests.size() < backlog;
            if (taken) {
                requests.addLast(request);
                changed.signal();
            }
        } finally {
            lock.unlock();
        }
        if (!taken) {
            boolean ignored = request.reject(NO_DATA); // first: there may be no memory to tell of it
            LOG.info(
                    "rejected {}: the listener is closed or its backlog of {} requests is full",
                    AddressText.of(request.remoteAddress()),
                    backlog);
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
            PeerRequest oldest = requests.peekFirst();
            if (oldest == null) {
                return Optional.empty();
            }
            Optional<ConnectionRequest> request = Optional.of(new SoftConnectionRequest(device, oldest));
            PeerRequest ignored =
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
            for (PeerRequest next = requests.pollFirst(); next != null; next = requests.pollFirst()) {
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
