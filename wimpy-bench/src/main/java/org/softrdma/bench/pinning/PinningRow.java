package org.softrdma.bench.pinning;

import java.util.Locale;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.verbs.PinningPolicy;

/**
 * One line of the study of pinning.
 *
 * @param part what was measured: {@code registration}, {@code touch}, {@code budget}, {@code confined}
 * @param system how memory was pinned
 * @param at where: a size, a state of the memory, a distribution of keys
 * @param values what each round gave, by name
 */
record PinningRow(String part, String system, String at, MedianOfRounds values) {
    static final String REGISTER = "registerMicros";
    static final String DEREGISTER = "deregisterMicros";
    static final String P50 = "p50Micros";
    static final String P99 = "p99Micros";
    static final String GETS_PER_SECOND = "getsPerSecond";
    static final String SERVER_CPU = "serverCpuMicrosPerGet";
    static final String EVICTIONS = "evictionsPerGet";
    static final String UNPINNED = "unpinnedAccessesPerGet";
    static final String ERRORS = "errors";

    PinningRow(String part, String system, String at) {
        this(part, system, at, new MedianOfRounds());
    }

    /** The name of a policy in results. */
    static String name(PinningPolicy policy) {
        return policy.name().toLowerCase(Locale.ROOT);
    }
}
