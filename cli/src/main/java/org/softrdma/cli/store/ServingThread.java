package org.softrdma.cli.store;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.agrona.concurrent.Agent;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.AllocationMeter;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreServer;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The thread {@code store}: opens the device, which it may have to drive, makes the server, serves until it is to
 * stop, and closes both. The server's workers have threads of their own if they may. If one of them fails, all stop: its
 * part of the keys may be half changed. Another thread starts it, asks and stops it.
 */
final class ServingThread implements AutoCloseable {
    private final CompletableFuture<Started> started = new CompletableFuture<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Queue<CompletableFuture<Map<String, Long>>> asked = new ConcurrentLinkedQueue<>();
    private final Supplier<VerbsDevice> opening;
    private final Function<VerbsDevice, StoreServer> making;
    private final Supplier<Rest> rests;
    private final IntFunction<Optional<String>> pinning;
    private final AtomicReference<@Nullable Throwable> workersFailure = new AtomicReference<>();
    private final AllocationMeter allocation = new AllocationMeter();
    private volatile boolean stopping;

    /** What it serves. */
    record Started(InetSocketAddress address, String device, String pinning, int workers) {}

    /** What the thread does between two turns of the server. */
    @FunctionalInterface
    interface Rest {
        /**
         * Waits if there was nothing to do.
         *
         * @param worked what the last turn did; 0 if nothing
         * @param device of the server
         */
        void after(int worked, VerbsDevice device);
    }

    private ServingThread(
            Supplier<VerbsDevice> opening,
            Function<VerbsDevice, StoreServer> making,
            Supplier<Rest> rests,
            IntFunction<Optional<String>> pinning) {
        this.opening = opening;
        this.making = making;
        this.rests = rests;
        this.pinning = pinning;
    }

    /**
     * Starts it.
     *
     * @param opening opens the device
     * @param making makes the server
     * @param rests what each thread does when there is nothing to do
     * @param pinning pins the calling thread, that of the worker with this number; says why if it cannot
     * @param onEnd called when it has ended, whatever the reason
     */
    static ServingThread start(
            Supplier<VerbsDevice> opening,
            Function<VerbsDevice, StoreServer> making,
            Supplier<Rest> rests,
            IntFunction<Optional<String>> pinning,
            Runnable onEnd) {
        ServingThread serving = new ServingThread(opening, making, rests, pinning);
        Thread.ofPlatform().name("store").start(() -> {
            serving.run();
            onEnd.run();
        });
        return serving;
    }

    private void run() {
        try (VerbsDevice device = opening.get();
                StoreServer server = making.apply(device)) {
            List<Agent> workers = server.detachWorkers();
            List<Thread> threads = new ArrayList<>();
            try {
                for (int worker = 0; worker < workers.size(); worker++) {
                    threads.add(startWorker(worker, workers.get(worker), device));
                }
                started.complete(new Started(server.address(), device.name(), device.pinning(), workers.size()));
                serve(server, device);
            } finally {
                stopping = true;
                threads.forEach(ServingThread::awaitEnd); // before the server is closed
            }
            Throwable failure = workersFailure.get();
            if (failure == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(failure);
            }
        } catch (RuntimeException | Error e) {
            boolean ignored = started.completeExceptionally(e) || ended.completeExceptionally(e);
        }
    }

    private void serve(StoreServer server, VerbsDevice device) {
        Rest rest = rests.get();
        while (!stopping) {
            rest.after(server.doWork(), device);
            CompletableFuture<Map<String, Long>> report = asked.poll();
            if (report != null) {
                report.complete(report(server, device));
            }
        }
    }

    private Thread startWorker(int number, Agent worker, VerbsDevice device) {
        return Thread.ofPlatform().name("store-worker-" + number).start(() -> {
            try {
                Optional<String> problem = pinning.apply(number);
                if (problem.isPresent()) {
                    throw new UserErrorException("--pin: " + problem.get());
                }
                Rest rest = rests.get();
                while (!stopping) {
                    rest.after(worker.doWork(), device);
                }
            } catch (Throwable e) {
                boolean ignored = workersFailure.compareAndSet(null, e);
                stopping = true;
            }
        });
    }

    private static void awaitEnd(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Map<String, Long> report(StoreServer server, VerbsDevice device) {
        SpaceUse space = server.space();
        Map<String, Long> report = new TreeMap<>(device.counters());
        report.put("allocatedBytes", allocation.ownBytes() + allocation.othersBytes());
        report.put("pairs", space.pairs());
        report.put("dataBytes", space.dataBytes());
        report.put("usedBytes", space.usedBytes());
        report.put("registeredBytes", space.registeredBytes());
        return report;
    }

    /**
     * Waits until it serves.
     *
     * @throws RuntimeException what kept it from that
     */
    Started awaitStart() {
        return joined(started);
    }

    /** What it holds, has allocated on the heap, and what its device has counted; null if it has ended. */
    @Nullable
    Map<String, Long> report() {
        CompletableFuture<Map<String, Long>> report = new CompletableFuture<>();
        asked.add(report);
        Object first = joined(CompletableFuture.anyOf(report, ended.handle((nothing, failure) -> this)));
        return first == this ? null : report.join();
    }

    /**
     * Stops it, and waits for that.
     *
     * @throws RuntimeException what ended it before, if something did
     */
    @Override
    public void close() {
        stopping = true;
        if (!started.isCompletedExceptionally()) {
            joined(ended);
        }
    }

    private static <T> T joined(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException reason) {
                throw reason;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
