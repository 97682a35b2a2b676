package org.softrdma.sim.engine;

import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.Waits;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.InUse;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.sim.queue.Progress;

/**
 * One event loop and what its connections share: counters, limits, memory, the epoch. In engine mode its own thread
 * drives it; in manual mode the thread that owns the device does, by calling {@link #poll}; in a simulation, whatever
 * decides there who runs.
 */
public final class RnicEngine implements Progress {
    private final EventLoop loop;
    private final boolean manual;
    /** How others wait for it in a simulation. */
    private final @Nullable Waits waits;
    /** In manual mode the only thread that may use the device; not used otherwise. */
    private final Thread owner = Thread.currentThread();

    private final StagTable stags;
    private final PinTable pins;
    private final EngineLimits limits;
    private final Quiescence.Epoch epoch;
    private final Counters<Counter> counters = new Counters<>(Counter.values(), Counter::label);
    private final MemoryOperations memory;
    /** Memory that the wire has gathered for its next send. */
    private InUse gathered = InUse.NOTHING;
    /** Manual mode: connections with a doorbell rung since the last poll. */
    private final EnduringQueue<DrivenConnection> rung = new EnduringQueue<>();
    /** Manual mode: there are completions that the owner may not have polled. */
    private boolean completed;

    /** Manual mode: a wake-up that the owner has not heard of. */
    private final AtomicBoolean woken = new AtomicBoolean();

    private final Runnable wokenUp;

    private final HotConnection hotConnection = new HotConnection();
    private final ReceiveRetries receiveRetries;
    private final OpenConnections connections;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /**
     * Makes an engine; in manual mode the calling thread owns it.
     *
     * @param loop drives it
     * @param manual the owner calls {@link #poll}
     * @param device memory of the device
     * @param limits sizes and times
     */
    public RnicEngine(EventLoop loop, boolean manual, DeviceMemory device, EngineLimits limits) {
        this.loop = loop;
        wokenUp = loop.careful(() -> woken.set(false));
        this.manual = manual;
        waits = loop.waits().orElse(null);
        stags = device.stags();
        pins = device.pins();
        this.limits = limits;
        memory = device.operations();
        epoch = device.quiescence().newEpoch();
        receiveRetries = new ReceiveRetries(loop);
        connections = new OpenConnections(loop, limits, counters);
        loop.whenBroken(connections::broken);
    }

    /** The loop that drives it. */
    public EventLoop loop() {
        return loop;
    }

    /** Its counters. */
    public Counters<Counter> counters() {
        return counters;
    }

    /** Sizes and times. */
    public EngineLimits limits() {
        return limits;
    }

    /** The device's operations on native memory. */
    public MemoryOperations memory() {
        return memory;
    }

    /** The device's regions by key. */
    public StagTable stags() {
        return stags;
    }

    /** Memory of a row is about to be used: pins it if the region is lazy. Inside a batch. */
    public void use(int row, long rawAddress, long length) {
        use(row, rawAddress, length, gathered);
    }

    /**
     * Memory of a row is about to be used by a thread that may be another one than the engine's: pins it if the region is
     * lazy. Inside a batch of that thread.
     *
     * @param row of the region
     * @param rawAddress first address
     * @param length bytes
     * @param inUse memory that must not be unpinned for it
     */
    public void use(int row, long rawAddress, long length, InUse inUse) {
        if (!isReady(row, rawAddress, length)) {
            pins.pin(stags.binding(row).region(), rawAddress, length, inUse);
        }
    }

    /** True if {@link #use} has nothing to pin. As that. */
    public boolean isReady(int row, long rawAddress, long length) {
        return !stags.isLazy(row) || pins.isWarm(rawAddress, length);
    }

    /** Names the memory that the wire gathers for its next send, which must not be unpinned. Before the first connection. */
    public void gathers(InUse memory) {
        gathered = memory;
    }

    /** Memory gathered for the next send, which must not be unpinned. Engine thread. */
    public InUse gathered() {
        return gathered;
    }

    /** Memory of a live binding is about to be used: pins it if the region is lazy. Inside a batch. */
    public void use(Binding binding, long rawAddress, long length) {
        if (binding.isLazy() && !pins.isWarm(rawAddress, length)) {
            pins.pin(binding.region(), rawAddress, length, gathered);
        }
    }

    /** Its batches. */
    public Quiescence.Epoch epoch() {
        return epoch;
    }

    /** Connections that wait for another attempt. */
    public ReceiveRetries receiveRetries() {
        return receiveRetries;
    }

    /** Runs a task on the engine's thread: at once if this is that thread, else soon. */
    public void execute(Runnable task) {
        if (loop.inLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    /**
     * Runs a task on the engine's thread, soon. Waits for memory if the loop has none for it: without this task something would
     * be lost, a request or an end.
     *
     * @param task made before, and {@linkplain EventLoop#careful careful}
     * @throws java.util.concurrent.RejectedExecutionException if the loop has stopped
     */
    public void enqueue(Runnable task) {
        boolean taken = false;
        while (!taken) {
            try {
                loop.execute(task);
                taken = true;
            } catch (OutOfMemoryError e) {
                LoopGuard.pause();
            }
        }
    }

    /**
     * Runs a task on the engine's thread, later. Waits for memory as {@link #enqueue} does. Engine thread.
     *
     * @param task made before, and {@linkplain EventLoop#careful careful}
     * @param delayNs how much later
     * @return prevents it from running
     */
    public EventLoop.Cancellable schedule(Runnable task, long delayNs) {
        while (true) {
            try {
                return loop.schedule(task, delayNs, TimeUnit.NANOSECONDS);
            } catch (OutOfMemoryError e) {
                LoopGuard.pause();
            }
        }
    }

    /** Work for the engine's thread that may fail. */
    @FunctionalInterface
    public interface Task {
        /** Does the work. */
        void run() throws IOException;
    }

    /**
     * Runs a task as {@link #execute} does. The result completes when the task has run, exceptionally if it throws.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the loop has stopped
     */
    public CompletableFuture<Void> submit(Task task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        execute(() -> run(task, done));
        return done;
    }

    private static void run(Task task, CompletableFuture<Void> done) {
        try {
            task.run();
            done.complete(null);
        } catch (Throwable e) {
            fail(done, e);
        }
    }

    /** Who waits for it would wait for ever: this waits until there is memory for the failure. */
    private static void fail(CompletableFuture<Void> done, Throwable cause) {
        while (!done.isDone()) {
            try {
                done.completeExceptionally(cause);
            } catch (OutOfMemoryError e) {
                LoopGuard.pause();
            }
        }
    }

    /**
     * Closes all connections because the device is being closed; the result completes when they are closed. Not
     * concurrently.
     */
    public CompletableFuture<Void> end() {
        if (!ended.isDone()) {
            execute(() -> run(connections::close, ended));
        }
        return ended;
    }

    /** The connections that have a socket. */
    public OpenConnections connections() {
        return connections;
    }

    /** Manual mode: a request was posted; the next poll sends it. Waits for memory as {@link #enqueue} does. */
    public void ring(DrivenConnection connection) {
        rung.addLastAnyway(connection);
    }

    @Override
    public boolean isManual() {
        return manual;
    }

    @Override
    public boolean isThreaded() {
        return !manual && waits == null;
    }

    @Override
    public void checkThread() {
        if (manual && Thread.currentThread() != owner) {
            throw new IllegalStateException(
                    "this device is in manual progress and belongs to thread \"" + owner.getName() + "\", but thread \""
                            + Thread.currentThread().getName() + "\" called");
        }
    }

    @Override
    public void send() {
        for (DrivenConnection connection = rung.pollFirst(); connection != null; connection = rung.pollFirst()) {
            connection.doorbell();
        }
    }

    @Override
    public void completed() {
        if (manual) {
            completed = true;
        }
    }

    @Override
    public void poll() {
        if (manual) {
            send();
            if (!hotConnection.poll()) {
                loop.run(0);
            }
        } else if (waits != null) {
            waits.idle();
        }
    }

    @Override
    public boolean turn() {
        if (manual) {
            return run(0) > 0;
        }
        poll();
        return true;
    }

    /**
     * Manual mode: sends what was posted and handles what is ready.
     *
     * @param timeoutNs how long to wait for something to do; not if a request was completed since the last turn
     * @return events and tasks handled, and one more if a request was completed
     */
    public int run(long timeoutNs) {
        send();
        if (!completed) {
            return loop.run(timeoutNs);
        }
        completed = false;
        return 1 + loop.run(0);
    }

    /** Manual mode: ends a wait in {@link #run}, the one under way or else the next. Any thread. */
    public void wakeUp() {
        if (woken.compareAndSet(false, true)) {
            try {
                loop.execute(wokenUp);
            } catch (RejectedExecutionException e) {
                return; // the loop has stopped: nobody waits
            } catch (Error e) {
                woken.set(false);
                throw e;
            }
        }
    }

    /** The connection that polls try first. */
    public HotConnection hotConnection() {
        return hotConnection;
    }

    @Override
    public void settle(CompletableFuture<?> future) {
        if (isThreaded()) {
            join(future);
            return;
        }
        while (!future.isDone()) {
            poll();
        }
    }

    /** Waits also if there is no memory to wait with. */
    private static void join(CompletableFuture<?> future) {
        while (!future.isDone()) {
            try {
                Object ignored = future.join(); // an interrupt does not end it
            } catch (CompletionException | CancellationException e) {
                return; // who asks for the result hears of it
            } catch (OutOfMemoryError e) {
                LoopGuard.pause();
            }
        }
    }

    @Override
    public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
        if (waits != null) {
            return waits.until(condition, timeoutNs);
        }
        NanoClock clock = loop.clock();
        long startNs = clock.nanoTime();
        long limitNs = Math.max(0, timeoutNs); // less the time that has passed, the least number would be a large one
        while (!condition.getAsBoolean()) {
            long remainingNs = limitNs - (clock.nanoTime() - startNs);
            if (remainingNs <= 0 || Thread.currentThread().isInterrupted()) {
                run(0);
                return condition.getAsBoolean();
            }
            run(Math.min(remainingNs, TimeUnit.MILLISECONDS.toNanos(10)));
        }
        return true;
    }
}
