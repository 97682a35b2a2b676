package org.softrdma.bench.perftest;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * An initiator of a test besides the first: a device, an endpoint and a thread of its own, which alone uses both. It
 * says nothing to the server but what its data queue pairs do.
 */
final class PerfInitiator implements AutoCloseable {
    private final ExecutorService thread;
    // On the thread.
    private @Nullable VerbsDevice device;
    private @Nullable PerfEndpoint endpoint;

    /**
     * Opens a device on a new thread.
     *
     * @param number for the thread's name
     * @param open opens it
     */
    PerfInitiator(int number, Supplier<VerbsDevice> open) {
        thread = Executors.newSingleThreadExecutor(
                task -> Thread.ofPlatform().daemon().name("initiator-" + number).unstarted(task));
        try {
            get(submit(() -> {
                VerbsDevice opened = open.get();
                device = opened;
                endpoint = new PerfEndpoint(opened);
                return opened;
            }));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Its device; on its thread. */
    VerbsDevice device() {
        return require(device);
    }

    /** Its endpoint; on its thread. */
    PerfEndpoint endpoint() {
        return require(endpoint);
    }

    private static <T> T require(@Nullable T opened) {
        if (opened == null) {
            throw new IllegalStateException("the initiator is not open");
        }
        return opened;
    }

    /** Runs something on its thread. */
    <T> Future<T> submit(Callable<T> action) {
        return thread.submit(action);
    }

    /** Waits for the result of {@link #submit}. */
    static <T> T get(Future<T> result) {
        try {
            return result.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new MeasurementException("an initiator failed: " + e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasurementException("interrupted while an initiator ran");
        }
    }

    @Override
    public void close() {
        try {
            get(submit(() -> {
                if (endpoint != null) {
                    endpoint.close();
                }
                if (device != null) {
                    device.close();
                }
                return true;
            }));
        } finally {
            thread.shutdown();
        }
    }
}
