package org.softrdma.testkit.history;

import org.jspecify.annotations.Nullable;

/**
 * One operation of a history. It took effect at one instant between its invocation and its return. One that never
 * returned has an unknown outcome: it took effect at one instant after its invocation, or never.
 *
 * <p>Times are of any one clock: steps of a simulation or {@link System#nanoTime}. Of two operations that share an
 * instant, neither precedes the other.
 *
 * @param process who did it, for people
 * @param key what it was done to
 * @param input what was asked
 * @param output what was answered; null if nothing was
 * @param invoked when it was asked
 * @param returned when it was answered; {@link #NEVER} if it was not
 * @param <I> type of inputs; equal inputs ask for the same
 * @param <O> type of outputs
 */
public record Operation<I, O>(
        String process, String key, I input, @Nullable O output, long invoked, long returned) {
    /** The return of an operation that never returned. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Checks. */
    public Operation {
        if (returned < invoked) {
            throw new IllegalArgumentException(
                    "returned at " + returned + ", before it was invoked at " + invoked + ": give times of one clock");
        }
        if ((output == null) != (returned == NEVER)) {
            throw new IllegalArgumentException("output " + output + " with return "
                    + (returned == NEVER ? "NEVER" : returned) + ": an output and a time of return come together");
        }
    }

    /**
     * An operation that never returned.
     *
     * @param process who did it
     * @param key what it was done to
     * @param input what was asked
     * @param invoked when
     */
    public static <I, O> Operation<I, O> unknown(String process, String key, I input, long invoked) {
        return new Operation<>(process, key, input, null, invoked, NEVER);
    }

    /** True if it returned. */
    public boolean isKnown() {
        return returned != NEVER;
    }

    /** The same, if nobody had seen its return. What explains the one explains the other. */
    Operation<I, O> forgotten() {
        return isKnown() ? unknown(process, key, input, invoked) : this;
    }

    /** Input and output in words. */
    String words() {
        return output == null ? input + ", unknown" : input + " -> " + output;
    }

    @Override
    public String toString() {
        return process + ": " + words() + " [" + invoked + ", " + (isKnown() ? returned : "never") + "]";
    }
}
