package org.softrdma.cli.farm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Does something for each of many numbers, by several threads. */
final class LoadThreads {
    private LoadThreads() {}

    /**
     * Does it, and returns when it is done.
     *
     * @param threads how many
     * @param count of the numbers, from 0 on
     * @param work makes what a thread does with a number
     */
    static void run(int threads, int count, Supplier<IntConsumer> work) {
        AtomicInteger next = new AtomicInteger();
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            started.add(Thread.ofPlatform().name("load-" + i).start(() -> {
                try {
                    IntConsumer mine = work.get();
                    for (int number = next.getAndIncrement();
                            number < count && failure.get() == null;
                            number = next.getAndIncrement()) {
                        mine.accept(number);
                    }
                } catch (RuntimeException e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        try {
            for (Thread thread : started) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while loading", e);
        }
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
    }
}
