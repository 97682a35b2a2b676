package org.softrdma.testkit.conformance;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.verbs.Capabilities;

/**
 * The results of a run.
 *
 * @param settings settings of the run
 * @param device name of the requester's device
 * @param capabilities its capabilities; null if it could not be opened
 * @param wire the protocol of its connections, for messages; empty if there was none
 * @param operations READs, WRITEs, SENDs and RECVs that completed with success
 * @param results one per case, in the order in which they ran
 */
public record ConformanceReport(
        ConformanceSettings settings,
        String device,
        @Nullable Capabilities capabilities,
        String wire,
        long operations,
        List<CaseResult> results) {
    /** Copies the list. */
    public ConformanceReport {
        results = List.copyOf(results);
    }

    /** How many results have a status. */
    public long count(CaseResult.Status status) {
        return results.stream().filter(result -> result.status() == status).count();
    }

    /** The failed ones. */
    public List<CaseResult> failures() {
        return results.stream()
                .filter(result -> result.status() == CaseResult.Status.FAILED)
                .toList();
    }

    /** {@code N passed, N failed, N skipped}. */
    public String summary() {
        return count(CaseResult.Status.PASSED) + " passed, " + count(CaseResult.Status.FAILED) + " failed, "
                + count(CaseResult.Status.SKIPPED) + " skipped";
    }
}
