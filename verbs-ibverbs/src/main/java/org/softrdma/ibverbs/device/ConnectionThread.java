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
 * <p>librdmacm changes the state of queue pairs while it takes an event, so taking events and destroying queue pairs
 * exclude each other ({@link #exclusively}). The lock is fair; otherwise a thread that waits for events under it would
 * keep it.
 */
public abstract class ConnectionThread implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ConnectionThread.class.getName());

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Queue<CompletableFuture<Void>> postponed = new ConcurrentLinkedQueue<>();
    private final ReentrantLock eventLock = new ReentrantLock(true);
    private final ReentrantLock wakeLock = new ReentrantLock();
    private volatile @Nullable Thread thread;
    private volatile boolean closing;
    /** There is no channel to {@link #wake} any more. Under the wake lock. */
    private boolean gone;

    /** Not started yet. */
    ConnectionThread() {}

    // ---- what a provider does

    /**
     * Waits until there is an event, {@link #wake} is called, or some time has passed; takes and delivers the events.
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
     * Runs an action on the thread. No fault of one connection may end the thread of all.
     *
     * @param action may fail
     */
    protected static void guarded(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "handling a connection event or task failed; others continue", e);
        }
    }

    /**
     * Runs a task on the thread, soon. Does nothing once the channel is closed, because then everything a task could
     * concern is closed. Any thread.
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

    /** Keeps the channel open after the application has closed it, until something that needs it has ended. */
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
     * Like {@link #exclusively}, with a result.
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

    /**
     * Stops the thread and closes the channel. All ids are destroyed by then, because the device counts their holders.
     */
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
