package org.softrdma.net.transport;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.uring.RingTrial;

/** The transports on Netty's event loops: loops with threads of their own, or one loop that the owning thread runs. */
public final class NettyTransport implements Transport {
    private static final int SHUTDOWN_TIMEOUT_SECONDS = 10;
    private static final int START_TIMEOUT_SECONDS = 10;

    /** Of a device's loops. */
    private static final String DEVICE_THREADS = "rnic";

    /** Descriptors that Netty may need to find out whether it can use epoll: its library, and what it tries. */
    private static final int LOOKING_FOR_EPOLL = 16;

    private static volatile boolean epollAsked;

    private final String name;
    private final List<EventLoop> loops = new ArrayList<>();
    private final OpenSockets sockets;
    private final @Nullable MultiThreadIoEventLoopGroup group;
    private final @Nullable ManualIoEventLoop manual;

    /** Threads of loops: their name, how many, and who is told when one has ended; or the calling thread. */
    private record LoopThreads(String name, int count, boolean manualProgress, Runnable ended) {
        static LoopThreads ofDevice(int count, boolean manualProgress) {
            return new LoopThreads(DEVICE_THREADS, count, manualProgress, () -> {});
        }

        static LoopThreads ofService(String name, int count, Runnable ended) {
            return new LoopThreads(name, count, false, ended);
        }
    }

    /** Loops that no Error ends. */
    private static final class Group extends MultiThreadIoEventLoopGroup {
        Group(LoopThreads threads, IoHandlerFactory handlers) {
            super(threads.count(), new DefaultThreadFactory(threads.name(), true), handlers);
        }

        @Override
        protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... arguments) {
            return new EnduringLoop(this, executor, handlers);
        }
    }

    private NettyTransport(
            String name,
            OpenSockets sockets,
            IoHandlerFactory handlers,
            Function<IoEventLoop, EventLoop> wrap,
            LoopThreads threads) {
        this.name = name;
        this.sockets = sockets;
        if (threads.manualProgress()) {
            group = null;
            manual = new ManualIoEventLoop(Thread.currentThread(), handlers);
            loops.add(wrap.apply(manual));
        } else {
            manual = null;
            group = new Group(threads, handlers);
            group.forEach(executor -> loops.add(wrap.apply((IoEventLoop) executor)));
            start(group);
            group.forEach(loop ->
                    loop.terminationFuture().addListener(_ -> threads.ended().run()));
        }
    }

    /** Netty would start a thread with the first task, when there may be no memory for it, and not again if it ended then. */
    private static void start(MultiThreadIoEventLoopGroup group) {
        group.forEach(loop -> {
            Future<?> started = loop.submit(Thread::onSpinWait);
            boolean ignored = started.awaitUninterruptibly(START_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        });
    }

    /**
     * Refuses if epoll cannot be used here. Netty looks once, when its class is initialized, and keeps what it finds: so it is
     * not asked while there are too few descriptors for that.
     *
     * @throws IOException says why; a {@link org.softrdma.net.kernel.Shortage} if it could at another time
     */
    public static void requireEpoll() throws IOException {
        if (!epollAsked) {
            SpareDescriptors.require(LOOKING_FOR_EPOLL);
            epollAsked = true;
        }
        Throwable cause = Epoll.unavailabilityCause();
        if (cause != null) {
            throw new IOException(String.valueOf(cause.getMessage()), cause);
        }
    }

    /** Why epoll cannot be used here, or null if it can. */
    public static @Nullable String epollUnavailable() {
        try {
            requireEpoll();
            return null;
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /**
     * Linux epoll.
     *
     * @param threads number of loops; ignored in manual progress
     * @param manualProgress the calling thread will run the one loop
     * @param options of every connection
     */
    public static Transport epoll(int threads, boolean manualProgress, SocketOptions options) {
        return epoll(LoopThreads.ofDevice(threads, manualProgress), options);
    }

    /**
     * Linux epoll, for another service than a device's.
     *
     * @param threadName of the loops
     * @param threads number of loops
     * @param options of every connection
     * @param ended told when a loop's thread has ended, also when it was meant to
     */
    public static Transport epoll(String threadName, int threads, SocketOptions options, Runnable ended) {
        return epoll(LoopThreads.ofService(threadName, threads, ended), options);
    }

    private static Transport epoll(LoopThreads threads, SocketOptions options) {
        OpenSockets sockets = new OpenSockets();
        return new NettyTransport(
                "epoll",
                sockets,
                EnduringIoHandler.around(EpollIoHandler.newFactory()),
                loop -> new EpollEventLoop(loop, options, sockets),
                threads);
    }

    /**
     * Why io_uring cannot be used here, empty if it can: by trying it. Sockets are opened by the native library of epoll,
     * so that must be there too.
     */
    public static Optional<String> uringObstacle() {
        try {
            requireUring();
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Refuses if io_uring cannot be used here.
     *
     * @throws IOException says why; a {@link org.softrdma.net.kernel.Shortage} if it could at another time
     */
    public static void requireUring() throws IOException {
        try {
            requireEpoll();
        } catch (IOException e) {
            throw new IOException("it needs what epoll needs: " + e.getMessage(), e);
        }
        RingTrial.require();
    }

    /**
     * Linux io_uring; parameters as for {@link #epoll(int, boolean, SocketOptions)}.
     *
     * @throws IOException if there are no rings for it
     */
    public static Transport uring(int threads, boolean manualProgress, SocketOptions options) throws IOException {
        return uring(LoopThreads.ofDevice(threads, manualProgress), options);
    }

    /**
     * Linux io_uring, for another service than a device's; parameters as for {@link #epoll(String, int, SocketOptions,
     * Runnable)}.
     *
     * @throws IOException if there are no rings for it
     */
    public static Transport uring(String threadName, int threads, SocketOptions options, Runnable ended)
            throws IOException {
        return uring(LoopThreads.ofService(threadName, threads, ended), options);
    }

    private static Transport uring(LoopThreads threads, SocketOptions options) throws IOException {
        Epoll.ensureAvailability(); // brings the native library that opens sockets
        OpenSockets sockets = new OpenSockets();
        try {
            return new NettyTransport(
                    "uring",
                    sockets,
                    EnduringIoHandler.around(UringIoHandler.newFactory()),
                    loop -> new UringEventLoop(loop, options, sockets),
                    threads);
        } catch (RuntimeException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof UncheckedIOException refused) {
                    throw new IOException("no io_uring for an event loop: " + refused.getMessage(), e);
                }
            }
            throw e;
        }
    }

    /** The portable transport; parameters as for {@link #epoll(int, boolean, SocketOptions)}. */
    public static Transport nio(int threads, boolean manualProgress, SocketOptions options) {
        return nio(LoopThreads.ofDevice(threads, manualProgress), options);
    }

    /**
     * The portable transport, for another service than a device's; parameters as for {@link #epoll(String, int,
     * SocketOptions, Runnable)}.
     */
    public static Transport nio(String threadName, int threads, SocketOptions options, Runnable ended) {
        return nio(LoopThreads.ofService(threadName, threads, ended), options);
    }

    private static Transport nio(LoopThreads threads, SocketOptions options) {
        OpenSockets sockets = new OpenSockets();
        return new NettyTransport(
                "nio",
                sockets,
                EnduringIoHandler.around(SelectorIoHandler.newFactory(!threads.manualProgress())),
                loop -> new NioEventLoop(loop, options, sockets),
                threads);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<EventLoop> loops() {
        return List.copyOf(loops);
    }

    @Override
    public int openSockets() {
        return sockets.count();
    }

    @Override
    public void close() {
        if (group != null) {
            boolean stopped = group.shutdownGracefully(0, 0, TimeUnit.SECONDS)
                    .awaitUninterruptibly(SHUTDOWN_TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!stopped) {
                throw new IllegalStateException("event loops did not stop within " + SHUTDOWN_TIMEOUT_SECONDS
                        + " s; a callback may be blocking one");
            }
        }
        if (manual != null) {
            Future<?> shutdown = manual.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(SHUTDOWN_TIMEOUT_SECONDS);
            while (!shutdown.isDone() && System.nanoTime() < deadlineNs) {
                manual.runNow();
            }
        }
    }
}
