package org.softrdma.bench.compare;

/**
 * Something that was said, what was found, and whether the two agree.
 *
 * @param subject what it is about
 * @param said what was said
 * @param found what was found; empty if nothing was
 * @param verdict whether they agree
 * @param because why it does not hold, or was not measured; empty if it holds
 */
public record Judgement(String subject, String said, String found, Verdict verdict, String because) {
    /** Something about which results say nothing. */
    static Judgement notMeasured(String subject, String said, String because) {
        return new Judgement(subject, said, "", Verdict.NOT_MEASURED, because);
    }
}
