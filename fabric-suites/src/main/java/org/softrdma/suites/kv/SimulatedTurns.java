package org.softrdma.suites.kv;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.kv.turns.OwnThread;
import org.softrdma.kv.turns.StepPoint;
import org.softrdma.kv.turns.Turns;

/**
 * Threads of the store and of its clients wait by the scheduler, and let others run in the middle of changes; the trace names
 * the points where they do. Whoever holds it.
 */
final class SimulatedTurns extends Turns {
    /** A value is written word by word. */
    private static final int GRAIN = Long.BYTES;

    private final Scheduler scheduler;
    private final FabricNode node;

    SimulatedTurns(Fabric fabric, FabricNode node) {
        this.scheduler = fabric.scheduler();
        this.node = node;
    }

    @Override
    public ReentrantLock newLock() {
        return new SimulatedLock(scheduler);
    }

    @Override
    public void step(StepPoint point) {
        scheduler.note(point.name(), 0);
        scheduler.edge();
    }

    @Override
    public void giveWay() {
        scheduler.idle();
    }

    @Override
    public void copy(MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long length) {
        for (long done = 0; done < length; done += GRAIN) {
            long here = Math.min(GRAIN, length - done);
            MemorySegment.copy(source, sourceOffset + done, target, targetOffset + done, here);
            scheduler.step();
        }
    }

    @Override
    public <T> T get(Future<T> future) throws InterruptedException, ExecutionException {
        await(future::isDone, Long.MAX_VALUE);
        return future.get();
    }

    @Override
    public boolean acquire(Semaphore permits, long timeoutNs) throws InterruptedException {
        long deadlineNs = scheduler.nanoTime() + Math.max(0, timeoutNs);
        while (!permits.tryAcquire()) {
            long leftNs = deadlineNs - scheduler.nanoTime();
            if (leftNs <= 0) {
                return false;
            }
            await(() -> permits.availablePermits() > 0, leftNs);
        }
        return true;
    }

    @Override
    public <T> @Nullable T poll(BlockingQueue<T> queue, long timeoutNs) throws InterruptedException {
        await(() -> !queue.isEmpty(), timeoutNs);
        return queue.poll();
    }

    private void await(BooleanSupplier condition, long timeoutNs) throws InterruptedException {
        boolean holds = scheduler.until(condition, timeoutNs);
        if (!holds && Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    @Override
    public OwnThread start(String name, BooleanSupplier goesOn, Runnable turn) {
        return new FabricThread(scheduler, node.startHelper(name, () -> {
            while (goesOn.getAsBoolean()) {
                turn.run();
                // A turn takes whatever is thrown for a fault of its own; here a dead thread learns that it is.
                boolean ignored = scheduler.until(() -> true, 0);
            }
        }));
    }
}
