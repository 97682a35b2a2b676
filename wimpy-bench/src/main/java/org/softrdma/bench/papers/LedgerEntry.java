package org.softrdma.bench.papers;

import org.jspecify.annotations.Nullable;

/**
 * A figure or table: judged by results, or with a verdict that no results could change.
 *
 * @param id its name
 * @param shows what it shows
 * @param shape what must be there
 * @param results whose results it is judged by; null for none
 * @param judge finds out; null for none
 * @param verdict without results
 * @param reason of it
 */
record LedgerEntry(
        String id,
        String shows,
        String shape,
        LedgerSources.@Nullable Source results,
        @Nullable LedgerJudge judge,
        @Nullable LedgerVerdict verdict,
        @Nullable String reason) {
    LedgerRow judged(LedgerSources sources) {
        if (results != null && judge != null) {
            LedgerFinding finding = judge.judge(sources, results).unless(sources.spoilt(results));
            return new LedgerRow(id, shows, shape, finding.verdict(), finding.why());
        }
        if (verdict == null || reason == null) {
            throw new IllegalStateException(id + ": expected results and a judge, or a verdict and its reason");
        }
        return new LedgerRow(id, shows, shape, verdict, reason);
    }
}
