package org.softrdma.bench.study;

import java.util.List;

/**
 * Something about a run that its reader must know, as results.json has it.
 *
 * @param kind what it is
 * @param text one sentence or more, for people
 */
public record RunWarning(Kind kind, String text) {
    /** What a run warns of. */
    public enum Kind {
        /** Operations brought nothing or something wrong, or systems broke. */
        ERRORS(true),
        /** Client and server did not count the same, or a row is not about READs. */
        NOT_AS_COUNTED(true),
        /** A server was still compiling bytecode. */
        NOT_WARM(true),
        /** Other work had the cores. */
        NOT_QUIET(true),
        /** Rounds of some rows lie too far apart for a number: nothing can be judged by these rows. */
        TOO_NOISY(false),
        /** A ratio is another than the quotient of the figures beside it. */
        RATIO_IS_NO_QUOTIENT(false),
        /** There are too few rounds for small differences. */
        FEW_ROUNDS(false);

        private final boolean spoils;

        Kind(boolean spoils) {
            this.spoils = spoils;
        }

        /** True if nothing can be judged by a run of which this is said. */
        public boolean spoilsVerdicts() {
            return spoils;
        }
    }

    /** Why nothing can be judged by a run; empty if something can. */
    public static List<String> spoiling(List<RunWarning> warnings) {
        return warnings.stream()
                .filter(each -> each.kind.spoilsVerdicts())
                .map(RunWarning::text)
                .toList();
    }
}
