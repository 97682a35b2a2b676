package org.softrdma.fabric.scheduler;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run has failed: with its seed, which makes it fail again, and its last steps. */
public final class SimulationException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final long seed;

    /**
     * A run has failed.
     *
     * @param seed of the run
     * @param reason why
     * @param threads what each thread does that has not ended
     * @param trace what happened
     * @param cause what was thrown, if anything was
     */
    SimulationException(long seed, String reason, List<String> threads, Trace trace, @Nullable Throwable cause) {
        super(
                "seed " + seed + ": " + reason + living(threads) + "\nlast of " + trace.steps() + " steps:\n  "
                        + String.join("\n  ", trace.last()),
                cause);
        this.seed = seed;
    }

    private static String living(List<String> threads) {
        return threads.isEmpty() ? "" : "\nthreads:\n  " + String.join("\n  ", threads);
    }

    /** The seed of the run. */
    public long seed() {
        return seed;
    }
}
