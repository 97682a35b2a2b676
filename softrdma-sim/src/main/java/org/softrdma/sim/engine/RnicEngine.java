package org.softrdma.sim.engine;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.InUse;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.sim.queue.Progress;
import org.softrdma.sim.transport.EventLoop;

/**
 * One event loop and what its connections share: counters, limits, memory, the epoch. In engine mode it is driven by its own thread;
 * in manual mode by the thread that owns the device, which calls {@link #poll}.
 */
public final class RnicEngine implements Progress {
    private final EventLoop loop;
    private final boolean manual;
    /** In manual mode the only thread that may use the device; in engine mode whoever opened it, and nobody asks. */
    private final Thread owner = Thread.currentThread();

    private final StagTable stags;
    private final PinTable pins;
    private final EngineLimits limits;
    private final Quiescence.Epoch epoch;
    private final EngineCounters counters = new EngineCounters();
    private final MemoryOperations memory;
    private final InUse gathered;
    /** Manual mode: connections with a doorbell rung since the last poll. */
    private final ArrayDeque<DrivenConnection> rung = new ArrayDeque<>();

    private final Favourite favourite = new Favourite();
    private final SecondLook secondLook;
    private final OpenConnections connections;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /**
     * Makes an engine; in manual mode the calling thread owns it.
     *
     * @param loop drives it
     * @param manual the owner calls {@link #poll}
     * @param stags of the device
     * @param pins of the device
     * @param quiescence of the device
     * @param limits sizes
     * @param memory of the device
     * @param gathered memory that is gathered for the next send, which is not unpinned
     */
    public RnicEngine(
            EventLoop loop,
            boolean manual,
            StagTable stags,
            PinTable pins,
            Quiescence quiescence,
            EngineLimits limits,
            MemoryOperations memory,
            InUse gathered) {
        this.loop = loop;
        this.manual = manual;
        this.stags = stags;
        this.pins = pins;
        this.limits = limits;
        this.memory = memory;
        this.gathered = gathered;
        epoch = quiescence.newEpoch();
        secondLook = new SecondLook(loop);
        connections = new OpenConnections(loop, limits, counters);
    }

    /** The loop that drives it. */
    public EventLoop loop() {
        return loop;
    }

    /** What it counted. */
    public EngineCounters counters() {
        return counters;
    }

    /** Sizes and times. */
    public EngineLimits limits() {
        return limits;
    }

    /** What the device does with native memory. */
    public MemoryOperations memory() {
        return memory;
    }

    /** The device's regions by key. */
    public StagTable stags() {
        return stags;
    }

    /** Memory of a row is used next: pins it if it is to be. Inside a batch. */
    public void use(int row, long rawAddress, long length) {
        if (stags.isLazy(row) && !pins.isWarm(rawAddress, length)) {
            pins.pin(stags.binding(row), rawAddress, length, gathered);
        }
    }

    /** Memory of a binding that is alive is used next: pins it if it is to be. Inside a batch. */
    public void use(Binding binding, long rawAddress, long length) {
        if (binding.isLazy() && !pins.isWarm(rawAddress, length)) {
            pins.pin(binding, rawAddress, length, gathered);
        }
    }

    /** Its batches. */
    public Quiescence.Epoch epoch() {
        return epoch;
    }

    /** Connections to be tried once more. */
    public SecondLook secondLook() {
        return secondLook;
    }

    /** Runs a task on the engine's thread: at once if this is it, else soon. */
    public void execute(Runnable task) {
        if (loop.inLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    /** Work for the engine's thread that may fail. */
    @FunctionalInterface
    public interface Task {
        /** Does it. */
        void run() throws IOException;
    }

    /**
     * Runs a task as {@link #execute} does; whoever waits for it learns how it ended, by whatever it throws.
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
            done.completeExceptionally(e);
        }
    }

    /** Closes every connection for good, because the device is closed; done when they are. Not concurrently. */
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

    /** Manual mode: a request was posted; the next poll sends it. */
    public void ring(DrivenConnection connection) {
        rung.addLast(connection);
    }

    @Override
    public boolean isManual() {
        return manual;
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
    public void poll() {
        if (manual) {
            send();
            if (!favourite.poll()) {
                loop.run(0);
            }
        }
    }

    /**
     * Manual mode: sends what was posted and handles what is ready.
     *
     * @param timeoutNs how long to wait for something to do
     * @return events and tasks handled
     */
    public int run(long timeoutNs) {
        send();
        return loop.run(timeoutNs);
    }

    /** The connection that polls try first. */
    public Favourite favourite() {
        return favourite;
    }

    @Override
    public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
        NanoClock clock = loop.clock();
        long startNs = clock.nanoTime();
        while (!condition.getAsBoolean()) {
            long remainingNs = timeoutNs - (clock.nanoTime() - startNs);
            if (remainingNs <= 0 || Thread.currentThread().isInterrupted()) {
                run(0);
                return condition.getAsBoolean();
            }
            run(Math.min(remainingNs, TimeUnit.MILLISECONDS.toNanos(10)));
        }
        return true;
    }
}
