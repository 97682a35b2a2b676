package org.softrdma.fabric.network;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.scheduler.Group;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.fabric.scheduler.Source;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.DatagramLoop;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Waits;

/**
 * An event loop as a simulated thread, or one that its owner runs: in each of its steps it handles one task, timer or
 * event that the seed chooses.
 */
final class FabricLoop implements DatagramLoop {
    /** Times of a thousand that a socket raises an event without a cause. */
    private static final int SPURIOUS = 20;

    /** Of IPv4 and UDP. */
    private static final int HEADERS = 28;

    private final Network network;
    private final Scheduler scheduler;
    private final InetAddress host;
    private final OpenCount open;
    private final @Nullable Turn turn;
    private @Nullable SimulatedThread thread;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final PriorityQueue<Timer> timers =
            new PriorityQueue<>(Comparator.comparingLong(Timer::dueNs).thenComparingLong(Timer::number));
    private final List<FabricSocket> sockets = new ArrayList<>();
    private final List<FabricAcceptor> acceptors = new ArrayList<>();
    private final List<FabricDatagramSocket> datagramSockets = new ArrayList<>();
    private final List<Runnable> ready = new ArrayList<>();
    private long timersSet;
    private boolean stopping;

    private record Timer(long dueNs, long number, Runnable task) {}

    /** A loop that nobody runs yet. */
    FabricLoop(Network network, InetAddress host, OpenCount open, boolean ring) {
        this.network = network;
        this.scheduler = network.scheduler();
        this.host = host;
        this.open = open;
        turn = ring ? new Turn(scheduler.choices()) : null;
    }

    /** Runs it on a thread of its own. */
    void start(Group group, String name, Group.Kind kind) {
        thread = scheduler.start(group, name, kind, this::live);
    }

    private void live() {
        while (!stopping) {
            awaitWork(Source.NEVER);
            boolean ignored = handleOne();
        }
    }

    private void awaitWork(long timeoutNs) {
        boolean ignored = scheduler.until(this::hasWork, Math.min(timeoutNs, timeToTimer()));
    }

    private long timeToTimer() {
        Timer next = timers.peek();
        return next == null ? Source.NEVER : Math.max(1, next.dueNs() - scheduler.nanoTime());
    }

    private boolean hasWork() {
        if (stopping || !tasks.isEmpty() || isTurnOpen()) {
            return true;
        }
        for (FabricSocket socket : sockets) {
            if (socket.hasEvent()) {
                return true;
            }
        }
        for (FabricAcceptor acceptor : acceptors) {
            if (acceptor.hasEvent()) {
                return true;
            }
        }
        for (FabricDatagramSocket socket : datagramSockets) {
            if (socket.hasEvent()) {
                return true;
            }
        }
        return false;
    }

    private boolean isTurnOpen() {
        return turn != null && turn.isOpen();
    }

    /** Tasks in their order and timers in theirs; among the kinds, and among the sockets, in any. */
    private boolean handleOne() {
        ready.clear();
        Turn own = turn;
        if (own != null && own.isOpen()) {
            ready.add(own::end);
        } else {
            addTasks();
        }
        for (FabricSocket socket : sockets) {
            if (socket.hasEvent()) {
                ready.add(() -> raise(socket));
            }
        }
        for (FabricAcceptor acceptor : acceptors) {
            if (acceptor.hasEvent()) {
                ready.add(acceptor::raise);
            }
        }
        for (FabricDatagramSocket socket : datagramSockets) {
            if (socket.hasEvent()) {
                ready.add(socket::raise);
            }
        }
        if (!sockets.isEmpty() && scheduler.choices().chance(SPURIOUS)) {
            FabricSocket any = sockets.get(scheduler.choices().below(sockets.size()));
            ready.add(() -> raise(any)); // lawful: SocketEvents.ready
        }
        boolean some = !ready.isEmpty();
        if (some) {
            ready.get(scheduler.choices().below(ready.size())).run();
        }
        sockets.removeIf(FabricSocket::isClosed);
        datagramSockets.removeIf(FabricDatagramSocket::isClosed);
        return some;
    }

    private void addTasks() {
        if (!tasks.isEmpty()) {
            ready.add(() -> tasks.removeFirst().run());
        }
        Timer timer = timers.peek();
        if (timer != null && timer.dueNs() <= scheduler.nanoTime()) {
            ready.add(() -> {
                timers.remove(timer);
                scheduler.note("timer", timer.number());
                timer.task().run();
            });
        }
    }

    private void raise(FabricSocket socket) {
        if (turn == null) {
            socket.raise();
        } else {
            turn.raise(socket);
        }
    }

    /** Runs no further step; returns when it has ended. The running thread, but not itself. */
    void stop() {
        stopping = true;
        SimulatedThread own = thread;
        if (own != null) {
            boolean ignored = scheduler.until(own::isEnded, Source.NEVER);
        }
    }

    private void closed(FabricAcceptor acceptor) {
        network.closed(acceptor);
        acceptors.remove(acceptor);
    }

    // ---- EventLoop

    @Override
    public void execute(Runnable task) {
        if (stopping) {
            throw new RejectedExecutionException("the event loop has stopped");
        }
        tasks.addLast(careful(task));
    }

    @Override
    public Runnable careful(Runnable task) {
        return LoopGuard.careful(task);
    }

    @Override
    public NanoClock clock() {
        return scheduler;
    }

    @Override
    public Optional<Waits> waits() {
        return Optional.of(scheduler);
    }

    @Override
    public boolean inLoop() {
        return thread == null || Thread.currentThread() == thread.thread();
    }

    @Override
    public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
        Timer timer = new Timer(scheduler.nanoTime() + Math.max(0, unit.toNanos(delay)), timersSet++, careful(task));
        timers.add(timer);
        return () -> timers.remove(timer);
    }

    @Override
    public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
        FabricSocket socket = network.connect(host, remote, open);
        socket.attach(events, turn);
        sockets.add(socket);
        return socket;
    }

    @Override
    public int networkUnit(InetAddress local) {
        return network.largestDatagram() + HEADERS;
    }

    @Override
    public InetAddress localTo(InetSocketAddress remote) {
        return host;
    }

    @Override
    public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
        FabricDatagramSocket socket = network.bind(host, local, open, events);
        datagramSockets.add(socket);
        return socket;
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException {
        FabricAcceptor acceptor =
                network.listen(host, local, new FabricAcceptor.Settings(backlog, accepted, open, this::closed));
        acceptors.add(acceptor);
        return acceptor;
    }

    @Override
    public StreamSocket adopt(PendingSocket pending, SocketEvents events) {
        FabricSocket socket = ((FabricAcceptor.Pending) pending).socket();
        socket.attach(events, turn);
        sockets.add(socket);
        return socket;
    }

    @Override
    public int run(long timeoutNs) {
        if (thread != null) {
            return 0;
        }
        awaitWork(timeoutNs);
        return handleOne() ? 1 : 0;
    }
}
