package org.softrdma.bench.wimpy;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One way to get values, ready to be loaded.
 *
 * @param name the server
 * @param provider the verbs provider; null if none is involved
 * @param protocol how a value is got
 * @param server the process whose CPU is measured
 * @param load gets values
 * @param responderReads READs that the server's device has served so far; null where there is no such thing
 */
record MeasuredSystem(
        String name,
        @Nullable String provider,
        String protocol,
        ServerProcess server,
        GetLoad load,
        @Nullable LongSupplier responderReads) {
    /** The name in tables. */
    String label() {
        return name + " " + protocol;
    }
}
