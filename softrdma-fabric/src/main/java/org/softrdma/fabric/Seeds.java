package org.softrdma.fabric;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongFunction;
import org.agrona.LangUtil;

/**
 * Runs something by many seeds, several at a time: runs on fabrics share nothing. Results come in the order of the
 * seeds, so that they do not depend on the machine. The caller's thread waits.
 *
 * @param first seed
 * @param count how many, each one more than the one before
 * @param threads how many run at once
 */
public record Seeds(long first, int count, int threads) {
    /** Checks. */
    public Seeds {
        if (count < 1 || threads < 1) {
            throw new IllegalArgumentException("count=" + count + ", threads=" + threads + ": expected at least 1");
        }
    }

    /** On as many threads as the machine has processors. */
    public static Seeds of(long first, int count) {
        return new Seeds(first, count, Runtime.getRuntime().availableProcessors());
    }

    /** Takes a seed's result. */
    @FunctionalInterface
    public interface Results<R> {
        /** Takes it; true to go on with the next seed. */
        boolean take(long seed, R result);
    }

    /**
     * Runs it. Seeds whose results nobody takes are not begun, and those under way are interrupted.
     *
     * @param work what to do by a seed; what it throws is thrown here
     * @param results takes what came of it, in the order of the seeds, until it has had enough
     * @throws IllegalStateException if this thread is interrupted, and stays so; results are not complete
     */
    public <R> void run(LongFunction<R> work, Results<R> results) {
        try (ExecutorService executor = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().name("seeds-", 0).daemon().factory())) {
            try {
                take(submit(executor, work), results);
            } finally {
                executor.shutdownNow(); // else closing waits for every seed that is left
            }
        }
    }

    private <R> List<Future<R>> submit(ExecutorService executor, LongFunction<R> work) {
        List<Future<R>> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long seed = first + i;
            futures.add(executor.submit(() -> work.apply(seed)));
        }
        return futures;
    }

    private <R> void take(List<Future<R>> futures, Results<R> results) {
        boolean more = true;
        for (int i = 0; i < count && more; i++) {
            try {
                more = results.take(first + i, futures.get(i).get());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(
                        "interrupted: seed " + (first + i) + " and those after it have no result", e);
            } catch (ExecutionException e) {
                LangUtil.rethrowUnchecked(e.getCause());
            }
        }
    }
}
