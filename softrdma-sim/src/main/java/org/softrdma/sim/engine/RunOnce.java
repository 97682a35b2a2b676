package org.softrdma.sim.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

/**
 * An action that runs at most once, on the engine's thread: closing. Each caller returns when it is done. The engine's own thread does not
 * wait for another caller's task, which could only run behind it: it runs it at once. What it needs is made before; a loop that has no
 * memory for the task is asked again.
 */
public final class RunOnce {
    private final RnicEngine engine;
    private final Runnable task;
    private final Runnable here;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    /** Engine thread. */
    private boolean begun;

    /**
     * Nobody has asked yet.
     *
     * @param engine runs it
     * @param task to be run
     */
    public RunOnce(RnicEngine engine, Runnable task) {
        this.engine = engine;
        this.task = task;
        here = engine.loop().careful(this::runHere);
    }

    /** Returns when it is done; within it, at once. Any thread but another engine's. */
    public void run() {
        if (isDone()) {
            return;
        }
        if (engine.loop().inLoop()) {
            runHere();
            return;
        }
        try {
            engine.enqueue(here);
        } catch (RejectedExecutionException e) {
            if (isDone()) {
                return; // by another caller, after whose end the loop was stopped
            }
            throw e;
        }
        engine.settle(done); // an interrupt does not end it
    }

    /** True once it is done. */
    public boolean isDone() {
        return done.isDone();
    }

    private void runHere() {
        if (!begun) {
            begun = true;
            try {
                task.run();
            } finally {
                done.complete(null);
            }
        }
    }
}
