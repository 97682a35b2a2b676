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
 * seeds, so that they do
 * not depend on the machine. The caller's thread waits.
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
     * Runs it.
     *
     * @param work what to do by a seed
     * @param results takes what came of it, in the order of the seeds, until it has had enough
     */
    public <R> void run(LongFunction<R> work, Results<R> results) {
        try (ExecutorService executor = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().name("seeds-", 0).daemon().factory())) {
            List<Future<R>> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long seed = first + i;
                futures.add(executor.submit(() -> work.apply(seed)));
            }
            boolean more = true;
            for (int i = 0; i < count && more; i++) {
                more = results.take(first + i, futures.get(i).get());
            }
            executor.shutdownNow();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            LangUtil.rethrowUnchecked(e.getCause());
        }
    }
}
