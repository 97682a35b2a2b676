package org.softrdma.testkit.conformance;

/**
 * The result of a case.
 *
 * @param number number of the case; 0 for a rule about the run as a whole
 * @param title the rule that it checks
 * @param source source of the rule
 * @param reason why it failed or was skipped; empty if it passed
 * @param millis how long it took
 */
public record CaseResult(int number, String title, String source, Status status, String reason, long millis) {
    /** How a case ended. */
    public enum Status {
        /** The rule holds. */
        PASSED,
        /** The rule is broken. */
        FAILED,
        /** The rule does not apply to this device, or its failure is a {@link KnownDeviation}. */
        SKIPPED
    }

    /** The result in one line. */
    public String line() {
        String word = status == Status.FAILED ? "FAILED" : status.name().toLowerCase(java.util.Locale.ROOT);
        String head = String.format(java.util.Locale.ROOT, "%4d  %-7s %6d ms  %s", number, word, millis, title);
        return reason.isEmpty() ? head : head + ": " + reason;
    }

    /**
     * The same result, adjusted for a known deviation.
     *
     * @param deviation the deviation of this device in this case
     */
    CaseResult under(KnownDeviation deviation) {
        return switch (status) {
            case FAILED -> with(Status.SKIPPED, "known deviation: " + deviation.reason());
            case PASSED ->
                with(
                        Status.FAILED,
                        "the known deviation no longer occurs, remove it from the table: " + deviation.reason());
            case SKIPPED -> this;
        };
    }

    private CaseResult with(Status newStatus, String newReason) {
        return new CaseResult(number, title, source, newStatus, newReason, millis);
    }
}
