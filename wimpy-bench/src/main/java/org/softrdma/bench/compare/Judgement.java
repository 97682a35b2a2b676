package org.softrdma.bench.compare;

import java.util.List;

/**
 * Something that was said, what was found, and whether the two agree.
 *
 * @param subject what it is about
 * @param said what was said
 * @param found what was found; empty if nothing was
 * @param verdict whether they agree
 * @param because why it does not hold, was not judged or not measured; empty if it holds
 */
public record Judgement(String subject, String said, String found, Verdict verdict, String because) {
    /** Something of which results show something, but nothing that could speak for or against it. */
    static Judgement notJudged(String subject, String said, String found, String because) {
        return new Judgement(subject, said, found, Verdict.NOT_JUDGED, because);
    }

    /** The same, but no verdict if the run was spoilt. */
    Judgement unless(List<String> spoilt) {
        return spoilt.isEmpty() || (verdict != Verdict.HOLDS && verdict != Verdict.DOES_NOT_HOLD)
                ? this
                : notJudged(subject, said, found, String.join(" ", spoilt));
    }

    /** Something about which results say nothing. */
    static Judgement notMeasured(String subject, String said, String because) {
        return new Judgement(subject, said, "", Verdict.NOT_MEASURED, because);
    }
}
