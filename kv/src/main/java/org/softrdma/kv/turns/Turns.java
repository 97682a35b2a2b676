package org.softrdma.kv.turns;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Every place where a thread of the store or of a client waits for another one, or where another one may run in the
 * middle of a change. This class does what the JVM does. A simulation, in which one thread runs at a time, extends it,
 * and is handed in by {@code ServerEnvironment.turns} and {@code KvClientContext.turns}.
 *
 * <p>It is a class and no interface for its cost in production, which is none: where no subclass is loaded, the JIT
 * calls the methods here directly, so that {@link #step} is nothing and {@link #newLock} a plain lock. Stateless; any
 * thread.
 */
public class Turns {
    /** What the JVM does. */
    public static final Turns OF_JVM = new Turns();

    /** For subclasses. */
    protected Turns() {}

    /** A lock that is held while others may run. */
    public ReentrantLock newLock() {
        return new ReentrantLock();
    }

    /**
     * Another thread may run here: nothing in production.
     *
     * @param point where in a change the caller is
     */
    public void step(StepPoint point) {
        // The JVM lets others run anyway.
    }

    /** Lets others run, since the caller can only go on when they have. */
    public void giveWay() {
        Thread.yield();
    }

    /**
     * Copies to memory that peers may READ meanwhile.
     *
     * @param source where from
     * @param sourceOffset first byte in it
     * @param target where to
     * @param targetOffset first byte in it
     * @param length bytes
     */
    public void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long length) {
        MemorySegment.copy(source, sourceOffset, target, targetOffset, length);
    }

    /**
     * Waits for a result.
     *
     * @param future will have it
     * @throws ExecutionException if it has a failure instead
     */
    public <T> T get(Future<T> future) throws InterruptedException, ExecutionException {
        return future.get();
    }

    /**
     * Waits for a permit.
     *
     * @param permits of which one is taken
     * @param timeoutNs how long to wait
     * @return false at the end of the time
     */
    public boolean acquire(Semaphore permits, long timeoutNs) throws InterruptedException {
        return permits.tryAcquire(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /**
     * Waits for the head of a queue, and takes it.
     *
     * @param queue of which it is taken
     * @param timeoutNs how long to wait
     * @return null at the end of the time
     */
    public <T> @Nullable T poll(BlockingQueue<T> queue, long timeoutNs) throws InterruptedException {
        return queue.poll(timeoutNs, TimeUnit.NANOSECONDS);
    }

    /**
     * Starts a thread of a client.
     *
     * @param name of the thread
     * @param goesOn asked before each turn; the thread ends when it is false
     * @param turn run again and again; throws nothing
     */
    public OwnThread start(String name, BooleanSupplier goesOn, Runnable turn) {
        return JvmThread.start(name, () -> {
            while (goesOn.getAsBoolean()) {
                turn.run();
            }
        });
    }
}
