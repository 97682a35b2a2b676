package org.softrdma.bench.papers;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.Judgement;
import org.softrdma.bench.compare.Verdict;

/**
 * A figure or table, and how it is judged.
 *
 * @param id its name
 * @param shows what it shows
 * @param shape what must be there
 * @param source whose results it is judged by
 * @param judge finds out
 */
record LedgerEntry(
        String id, String shows, String shape, LedgerSources.Source source, Function<LedgerSources, Finding> judge) {
    /** Why nothing can be said without results of a comparison. */
    static final String NO_RESULTS = "there is no results.json of compare: run ./softrdma compare";

    /** Why nothing can be said without results of the fabric. */
    static final String NO_COUNTS = "there is no results.json of compare --fabric: run it with --skew 0";

    /**
     * What was found out.
     *
     * @param verdict of the entry
     * @param why numbers, or the reason
     */
    record Finding(LedgerVerdict verdict, String why) {
        static Finding of(boolean holds, String why) {
            return new Finding(holds ? LedgerVerdict.HOLDS : LedgerVerdict.DOES_NOT_HOLD, why);
        }

        static Finding of(Judgement judgement) {
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
        static Finding notJudged(String because, String found) {
            return new Finding(
                    LedgerVerdict.NOT_JUDGED,
                    because + (found.isEmpty() ? "" : (because.endsWith(".") ? "" : ".") + " Found: " + found));
        }

        /** The same, but no verdict if the run was spoilt. */
        Finding unless(List<String> spoilt) {
            return spoilt.isEmpty() || (verdict != LedgerVerdict.HOLDS && verdict != LedgerVerdict.DOES_NOT_HOLD)
                    ? this
                    : notJudged(String.join(" ", spoilt), why);
        }

        static Finding notRun(String why) {
            return new Finding(LedgerVerdict.NOT_RUN, why);
        }
    }

    static LedgerEntry notRun(String id, String shows, String shape, String why) {
        return new LedgerEntry(id, shows, shape, LedgerSources.Source.NONE, sources -> Finding.notRun(why));
    }

    static LedgerEntry notInOurText(String id, String shows, String shape, String why) {
        return new LedgerEntry(
                id,
                shows,
                shape,
                LedgerSources.Source.NONE,
                sources -> new Finding(LedgerVerdict.NOT_IN_OUR_TEXT, why));
    }

    static LedgerEntry modelOnly(String id, String shows, String shape, String why) {
        return new LedgerEntry(
                id, shows, shape, LedgerSources.Source.NONE, sources -> new Finding(LedgerVerdict.MODEL_ONLY, why));
    }

    /** What a comparison judges itself. */
    static LedgerEntry judged(String id, String shows, String shape, Function<CompareResults, Judgement> judge) {
        return of(id, shows, shape, LedgerSources.Source.COMPARE, LedgerSources::compare, NO_RESULTS, judge);
    }

    /** What a comparison on the fabric judges itself. */
    static LedgerEntry counted(String id, String shows, String shape, Function<CompareResults, Judgement> judge) {
        return of(id, shows, shape, LedgerSources.Source.COUNTS, LedgerSources::counts, NO_COUNTS, judge);
    }

    private static LedgerEntry of(
            String id,
            String shows,
            String shape,
            LedgerSources.Source source,
            Function<LedgerSources, Optional<CompareResults>> from,
            String none,
            Function<CompareResults, Judgement> judge) {
        return new LedgerEntry(
                id,
                shows,
                shape,
                source,
                sources -> from.apply(sources)
                        .map(results -> Finding.of(judge.apply(results)))
                        .orElseGet(() -> Finding.notRun(none)));
    }

    LedgerRow judged(LedgerSources sources) {
        Finding finding = judge.apply(sources).unless(sources.spoilt(source));
        return new LedgerRow(id, shows, shape, finding.verdict(), finding.why());
    }
}
