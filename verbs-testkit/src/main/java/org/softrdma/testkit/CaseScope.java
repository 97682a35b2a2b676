package org.softrdma.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A running case: what is closed and checked at its end, how it waits, and how many operations it has counted. It lies
 * below everything that a case works with. Any thread; while the thread that created it waits, it drives a device in
 * manual progress.
 */
final class CaseScope {
    private static final long PROGRESS_NS = 100_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final CaseEnvironment environment;
    private final long timeoutNs;
    private final Thread owner = Thread.currentThread();
    private final ConcurrentLinkedDeque<AutoCloseable> owned = new ConcurrentLinkedDeque<>();
    private final Queue<Runnable> checks = new ConcurrentLinkedQueue<>();
    private final LongAdder operations = new LongAdder();
    private volatile @Nullable VerbsDevice driven;

    private interface Attempt {
        void run() throws Exception;
    }

    /**
     * An empty scope.
     *
     * @param environment where it runs
     * @param timeoutNs limit of every wait
     */
    CaseScope(CaseEnvironment environment, long timeoutNs) {
        this.environment = environment;
        this.timeoutNs = timeoutNs;
    }

    /** While the owner waits, it drives this device, if that is in manual progress. */
    void drives(VerbsDevice device) {
        driven = device;
    }

    // ---- the end

    /** Closes a resource at the end of the case. */
    <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    /** Runs a check at the end of a case that passed; the check fails by throwing. */
    void atEnd(Runnable check) {
        checks.add(check);
    }

    /** Runs all checks. */
    List<Throwable> check() {
        List<Throwable> problems = new ArrayList<>();
        checks.forEach(check -> attempt(problems, check::run));
        return problems;
    }

    /** Closes what it owns, in reverse order. */
    List<Throwable> close() {
        List<Throwable> problems = new ArrayList<>();
        while (!owned.isEmpty()) {
            AutoCloseable resource = owned.pop();
            attempt(problems, resource::close);
        }
        return problems;
    }

    private static void attempt(List<Throwable> problems, Attempt action) {
        try {
            action.run();
        } catch (Exception | AssertionError e) {
            problems.add(e);
        }
    }

    // ---- operations

    void countOperations(long count) {
        operations.add(count);
    }

    long operations() {
        return operations.sum();
    }

    // ---- waiting

    long timeoutNs() {
        return timeoutNs;
    }

    /** See {@link TwoNodes#await}. */
    void await(String what, BooleanSupplier condition) {
        long start = environment.nanoTime();
        int rounds = 0;
        while (!condition.getAsBoolean()) {
            long waited = environment.nanoTime() - start;
            if (waited > timeoutNs) {
                throw new AssertionError("waited " + millis(waited) + " ms for " + what);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("interrupted after waiting " + millis(waited) + " ms for " + what);
            }
            idle(rounds++);
        }
    }

    /** See {@link TwoNodes#linger}. */
    void linger(long durationNs) {
        long start = environment.nanoTime();
        int rounds = 0;
        while (environment.nanoTime() - start < durationNs) {
            idle(rounds++);
        }
    }

    private void idle(int rounds) {
        VerbsDevice device = driven;
        if (device != null && device.manualProgress() && Thread.currentThread().equals(owner)) {
            device.progress(PROGRESS_NS);
        } else {
            environment.idle(rounds);
        }
    }

    /** For messages. */
    static long millis(long nanos) {
        return nanos / NANOS_PER_MILLI;
    }
}
