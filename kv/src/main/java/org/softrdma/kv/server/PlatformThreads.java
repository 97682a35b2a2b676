package org.softrdma.kv.server;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;

/** Daemon threads of the platform. */
final class PlatformThreads implements ServerThreads {
    @Override
    public Thread thread(String name, Runnable task) {
        return Thread.ofPlatform().name(name).daemon().unstarted(task);
    }

    @Override
    public ExecutorService executor(String name, int count) {
        AtomicInteger number = new AtomicInteger();
        return Executors.newFixedThreadPool(count, task -> thread(name + "-" + number.incrementAndGet(), task));
    }

    /** What is cancelled leaves its queue at once, for clients decide how often that happens. */
    @Override
    public ScheduledThreadPoolExecutor scheduler(String name) {
        ScheduledThreadPoolExecutor made = new ScheduledThreadPoolExecutor(1, task -> thread(name, task));
        made.setRemoveOnCancelPolicy(true);
        return made;
    }
}
