package org.softrdma.testkit;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Work that a case does on a thread of its own, because it blocks or because the case is about threads.
 *
 * @param <T> its result
 */
public final class Task<T> {
    private final CaseScope scope;
    private final String name;
    private final FutureTask<T> future;

    Task(CaseScope scope, String name, Callable<T> work) {
        this.scope = scope;
        this.name = name;
        this.future = new FutureTask<>(work);
    }

    Runnable work() {
        return future;
    }

    String name() {
        return name;
    }

    /** True once it has ended, successfully or not. */
    public boolean isDone() {
        return future.isDone();
    }

    /** Interrupts it; its result is lost. */
    public void cancel() {
        future.cancel(true);
    }

    /** Waits for its result until the deadline of the case, and rethrows its failure. */
    public T get() {
        scope.await("the thread '" + name + "' to end", future::isDone);
        try {
            return future.get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            switch (cause) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                case null, default -> throw new AssertionError("thread '" + name + "' failed", e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for '" + name + "'", e);
        }
    }
}
