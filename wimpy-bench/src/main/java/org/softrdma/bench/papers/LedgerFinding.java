package org.softrdma.bench.papers;

import java.util.List;
import org.softrdma.bench.compare.Judgement;
import org.softrdma.bench.compare.Verdict;

/**
 * What was found out about a figure.
 *
 * @param verdict of it
 * @param why numbers, or the reason
 */
record LedgerFinding(LedgerVerdict verdict, String why) {
    static LedgerFinding of(boolean holds, String why) {
        return new LedgerFinding(holds ? LedgerVerdict.HOLDS : LedgerVerdict.DOES_NOT_HOLD, why);
    }

    static LedgerFinding of(Judgement judgement) {
        return switch (judgement.verdict()) {
            case NOT_MEASURED -> notRun(judgement.because());
            case NOT_JUDGED -> notJudged(judgement.because(), judgement.found());
            case HOLDS, DOES_NOT_HOLD ->
                of(
                        judgement.verdict() == Verdict.HOLDS,
                        judgement.found() + (judgement.because().isEmpty() ? "" : ": " + judgement.because()));
        };
    }

    /** Numbers that say nothing for or against the shape. */
    static LedgerFinding notJudged(String because, String found) {
        return new LedgerFinding(
                LedgerVerdict.NOT_JUDGED,
                because + (found.isEmpty() ? "" : (because.endsWith(".") ? "" : ".") + " Found: " + found));
    }

    static LedgerFinding notRun(String why) {
        return new LedgerFinding(LedgerVerdict.NOT_RUN, why);
    }

    /** The same, but no verdict if the run was spoilt. */
    LedgerFinding unless(List<String> spoilt) {
        return spoilt.isEmpty() || (verdict != LedgerVerdict.HOLDS && verdict != LedgerVerdict.DOES_NOT_HOLD)
                ? this
                : notJudged(String.join(" ", spoilt), why);
    }
}
