package org.softrdma.cli.store;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.AllocationMeter;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreServer;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The thread {@code store}: opens the device, which it may have to drive, makes the server, serves until it is to
 * stop, and closes both. Another thread starts it, asks and stops it.
 */
final class ServingThread implements AutoCloseable {
    private final CompletableFuture<Started> started = new CompletableFuture<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Queue<CompletableFuture<Map<String, Long>>> asked = new ConcurrentLinkedQueue<>();
    private final Supplier<VerbsDevice> opening;
    private final Function<VerbsDevice, StoreServer> making;
    private final Rest rest;
    private final AllocationMeter allocation = new AllocationMeter();
    private volatile boolean stopping;

    /** What it serves. */
    record Started(InetSocketAddress address, String device, String pinning) {}

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

    private ServingThread(Supplier<VerbsDevice> opening, Function<VerbsDevice, StoreServer> making, Rest rest) {
        this.opening = opening;
        this.making = making;
        this.rest = rest;
    }

    /**
     * Starts it.
     *
     * @param opening opens the device
     * @param making makes the server
     * @param rest what it does when there is nothing to do
     * @param onEnd called when it has ended, whatever the reason
     */
    static ServingThread start(
            Supplier<VerbsDevice> opening, Function<VerbsDevice, StoreServer> making, Rest rest, Runnable onEnd) {
        ServingThread serving = new ServingThread(opening, making, rest);
        Thread.ofPlatform().name("store").start(() -> {
            serving.run();
            onEnd.run();
        });
        return serving;
    }

    private void run() {
        try (VerbsDevice device = opening.get();
                StoreServer server = making.apply(device)) {
            started.complete(new Started(server.address(), device.name(), device.pinning()));
            while (!stopping) {
                rest.after(server.doWork(), device);
                CompletableFuture<Map<String, Long>> report = asked.poll();
                if (report != null) {
                    report.complete(report(server, device));
                }
            }
            ended.complete(null);
        } catch (RuntimeException | Error e) {
            boolean ignored = started.completeExceptionally(e) || ended.completeExceptionally(e);
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
