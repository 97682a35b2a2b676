package org.softrdma.sim.fake;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Transport;

/** One loop for manual progress. Its time stands still but for {@link #advance}. One thread. */
final class FakeTransport implements Transport {
    private static final InetSocketAddress NOWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    private final Loop loop = new Loop();

    /** From now on this is done at the beginning of every call of the loop that may fail. */
    void beforeEachCall(Runnable action) {
        loop.beforeEachCall = action;
    }

    /** From now on this happens in each round between its events and what they have left to be sent later. */
    void beforeFlush(Runnable action) {
        loop.beforeFlush = action;
    }

    /** A peer connects. */
    void connect(FakeSocket socket) {
        Consumer<EventLoop.PendingSocket> listening = loop.listening;
        if (listening == null) {
            throw new IllegalStateException("nobody listens");
        }
        listening.accept(new Pending(socket));
    }

    /** The peer that the next outgoing connection finds. */
    void answer(FakeSocket socket) {
        loop.answering = socket;
    }

    /** The loop cannot go on, and says so. */
    void breakLoop() {
        loop.whenBroken.run();
    }

    /** Time passes, and timers that are due fire in their order. */
    void advance(long delay, TimeUnit unit) {
        loop.advance(unit.toNanos(delay));
    }

    /** Its clock, which also counts the time for which it was to wait. */
    long nowNs() {
        return loop.nowNs;
    }

    /** From now on this happens to each connection before a loop has it. */
    void beforeAdopt(Runnable action) {
        loop.beforeAdopt = action;
    }

    @Override
    public int openSockets() {
        return (int) loop.sockets.stream().filter(socket -> !socket.isClosed()).count();
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public List<EventLoop> loops() {
        return List.of(loop);
    }

    @Override
    public void close() {
        loop.sockets.clear();
    }

    private record Pending(FakeSocket socket) implements EventLoop.PendingSocket {
        @Override
        public void discard() {
            socket.close();
        }
    }

    private record Timer(long dueNs, Runnable task) {}

    private static final class Loop implements EventLoop {
        private final Deque<Runnable> tasks = new ArrayDeque<>();
        private final List<Timer> timers = new ArrayList<>();
        private Runnable beforeEachCall = () -> {};
        private Runnable whenBroken = () -> {};
        private long nowNs;
        private final List<FakeSocket> sockets = new ArrayList<>();
        private @Nullable Consumer<PendingSocket> listening;
        private @Nullable FakeSocket answering;
        private Runnable beforeAdopt = () -> {};
        private Runnable beforeFlush = () -> {};

        @Override
        public void execute(Runnable task) {
            beforeEachCall.run();
            tasks.addLast(task);
        }

        @Override
        public void whenBroken(Runnable task) {
            whenBroken = task;
        }

        @Override
        public NanoClock clock() {
            return () -> nowNs;
        }

        @Override
        public boolean inLoop() {
            return true;
        }

        @Override
        public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
            beforeEachCall.run();
            Timer timer = new Timer(nowNs + unit.toNanos(delay), task);
            timers.add(timer);
            return () -> timers.remove(timer);
        }

        private void advance(long delayNs) {
            long endNs = nowNs + delayNs;
            for (Optional<Timer> next = next(endNs); next.isPresent(); next = next(endNs)) {
                Timer timer = next.get();
                timers.remove(timer);
                nowNs = timer.dueNs();
                timer.task().run();
            }
            nowNs = endNs;
        }

        private Optional<Timer> next(long endNs) {
            return timers.stream().filter(timer -> timer.dueNs() <= endNs).min(Comparator.comparingLong(Timer::dueNs));
        }

        @Override
        public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
            beforeEachCall.run();
            FakeSocket socket = answering;
            if (socket == null) {
                throw new ConnectException("nobody listens there");
            }
            answering = null;
            socket.attach(events);
            sockets.add(socket);
            return socket;
        }

        @Override
        public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) {
            listening = accepted;
            return new Acceptor() {
                @Override
                public InetSocketAddress localAddress() {
                    return NOWHERE;
                }

                @Override
                public void close() {
                    listening = null;
                }
            };
        }

        @Override
        public StreamSocket adopt(PendingSocket pending, SocketEvents events) {
            FakeSocket socket = ((Pending) pending).socket;
            try {
                beforeEachCall.run();
                beforeAdopt.run();
            } catch (Throwable e) {
                socket.close();
                throw e;
            }
            socket.attach(events);
            sockets.add(socket);
            return socket;
        }

        @Override
        public int run(long timeoutNs) {
            int handled = 0;
            for (int left = tasks.size(); left > 0; left--) {
                tasks.removeFirst().run();
                handled++;
            }
            for (FakeSocket socket : List.copyOf(sockets)) {
                handled += socket.raise();
            }
            beforeFlush.run();
            for (FakeSocket socket : List.copyOf(sockets)) {
                handled += socket.flush();
            }
            sockets.removeIf(FakeSocket::isClosed);
            if (handled == 0 && timeoutNs > 0) {
                advance(timeoutNs); // the wait
            }
            return handled;
        }
    }
}
