package org.softrdma.ibverbs.device;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Threads;

/**
 * The one thread that waits on a device's event channel. It also runs tasks that must not run while posting or
 * polling.
 *
 * <p>librdmacm moves queue pairs between states while it takes an event, so that and the destruction of a queue pair
 * exclude each other ({@link #exclusively}); the lock is fair, or a thread that waits for events under it would keep
 * it.
 */
public abstract class ConnectionThread implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ConnectionThread.class.getName());

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Queue<CompletableFuture<Void>> postponed = new ConcurrentLinkedQueue<>();
    private final ReentrantLock eventLock = new ReentrantLock(true);
    private final ReentrantLock wakeLock = new ReentrantLock();
    private volatile @Nullable Thread thread;
    private volatile boolean closing;
    /** There is nothing to {@link #wake} any more. Under the wake lock. */
    private boolean gone;

    /** Not started yet. */
    ConnectionThread() {}

    // ---- what a provider does

    /**
     * Waits for events until there is one or {@link #wake} was called, or a while; takes and delivers what is there.
     */
    protected abstract void takeEvents();

    /** Ends the wait of {@link #takeEvents}, now or soon. Any thread. */
    protected abstract void wake();

    /** {@code rdma_destroy_event_channel}. */
    protected abstract void closeChannel();

    // ---- the thread

    /**
     * Starts the thread.
     *
     * @param name of the thread
     */
    public final void start(String name) {
        thread = Thread.ofPlatform().daemon().name(name).start(this::run);
    }

    private void run() {
        while (!closing) {
            runTasks();
            guarded(this::takeEvents);
        }
        runTasks();
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            guarded(task);
        }
    }

    /**
     * Runs something on the thread: a fault of one connection, of whatever kind, must not end the thread of all.
     *
     * @param action what may fail
     */
    protected static void guarded(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "a connection's event or task failed; the others go on", e);
        }
    }

    /**
     * Runs something on the thread, soon; nothing once the channel is closed, when everything it could be about is.
     * Any thread.
     */
    final void execute(Runnable task) {
        wakeLock.lock();
        try {
            if (!gone) {
                tasks.add(task);
                wake();
            }
        } finally {
            wakeLock.unlock();
        }
    }

    /** Something that needs the channel goes on after its application has closed it. */
    final void postpone(CompletableFuture<Void> end) {
        postponed.removeIf(CompletableFuture::isDone);
        postponed.add(end);
    }

    /**
     * Runs something while no event is taken from the channel.
     *
     * @param action short
     */
    protected void exclusively(Runnable action) {
        eventLock.lock();
        try {
            action.run();
        } finally {
            eventLock.unlock();
        }
    }

    /**
     * Makes something, or takes an event, while no other event is taken from the channel.
     *
     * @param action short
     */
    protected final <T> T callExclusively(Supplier<T> action) {
        eventLock.lock();
        try {
            return action.get();
        } finally {
            eventLock.unlock();
        }
    }

    /** Stops the thread and closes the channel; every id is destroyed before, as the device counts their holders. */
    @Override
    public final void close() {
        closing = true;
        wake();
        Thread started = thread;
        if (started != null) {
            Threads.join(started);
        }
        // An rdma_connect that waits for TCP still holds its id.
        postponed.forEach(CompletableFuture::join);
        wakeLock.lock();
        try {
            gone = true;
        } finally {
            wakeLock.unlock();
        }
        runTasks();
        closeChannel();
    }
}
