package org.softrdma.cli.farm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** Does something for each of many numbers, by several threads. */
final class LoadThreads {
    private LoadThreads() {}

    /**
     * Does it, and returns when it is done.
     *
     * @param threads how many
     * @param count of the numbers, from 0 on
     * @param work makes what a thread does with a number
     * @throws RuntimeException the first that a thread has thrown; no further number is begun then
     */
    static void run(int threads, int count, Supplier<IntConsumer> work) {
        AtomicInteger next = new AtomicInteger();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> started = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                started.add(executor.submit(() -> doAll(next, count, work)));
            }
            for (Future<?> thread : started) {
                Object ignored = thread.get();
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException("loading failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while loading", e);
        }
    }

    private static void doAll(AtomicInteger next, int count, Supplier<IntConsumer> work) {
        boolean done = false;
        try {
            IntConsumer each = work.get();
            for (int number = next.getAndIncrement(); number < count; number = next.getAndIncrement()) {
                each.accept(number);
            }
            done = true;
        } finally {
            if (!done) {
                next.set(count); // the others stop, too
            }
        }
    }
}
