package org.softrdma.sanitiser.finding;

import org.jspecify.annotations.Nullable;

/**
 * A rule and the line of the program that breaks it. A loop breaks it there each time, and one report is enough.
 *
 * @param rule which rule
 * @param line that posted the request, or that called the verbs method if it is about no request; null if unknown
 */
public record FindingPlace(Rule rule, @Nullable StackTraceElement line) {
    /** Where a finding belongs. */
    static FindingPlace of(Finding finding) {
        RequestName request = finding.request();
        if (request != null && request.postedAt() != null) {
            return new FindingPlace(finding.rule(), request.postedAt());
        }
        return new FindingPlace(
                finding.rule(),
                finding.where().isEmpty() ? null : finding.where().getFirst());
    }

    /** For people: the rule, the file and the number of the line. */
    @Override
    public String toString() {
        return line == null ? rule.name() : rule + " at " + line.getFileName() + ":" + line.getLineNumber();
    }
}
