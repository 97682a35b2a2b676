package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;

/**
 * Records the history of a run: each process has a recorder of its own, which shares nothing with the others but the clock.
 * Thread-safe.
 *
 * @param <I> type of inputs
 * @param <O> type of outputs
 */
public final class HistoryRecorder<I, O> {
    private final LongSupplier clock;
    private final Queue<ProcessRecorder<I, O>> processes = new ConcurrentLinkedQueue<>();

    /**
     * A recorder without processes.
     *
     * @param clock the time, one for all threads: {@code System::nanoTime}, or the steps of a simulation
     */
    public HistoryRecorder(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * The recorder of another process.
     *
     * @param name of the process, for people
     */
    public ProcessRecorder<I, O> process(String name) {
        ProcessRecorder<I, O> process = new ProcessRecorder<>(name, clock);
        processes.add(process);
        return process;
    }

    /** What all processes have recorded. Their threads must have ended, or have been waited for. */
    public List<Operation<I, O>> operations() {
        List<Operation<I, O>> operations = new ArrayList<>();
        processes.forEach(process -> process.addTo(operations));
        return operations;
    }
}
