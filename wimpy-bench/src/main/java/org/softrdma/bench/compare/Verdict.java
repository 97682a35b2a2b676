package org.softrdma.bench.compare;

/** What became of something that was said before it was measured. */
public enum Verdict {
    /** It is as was said. */
    HOLDS("holds"),
    /** It is not. */
    DOES_NOT_HOLD("does not hold here"),
    /** It was measured, and nothing follows: the run was spoilt, or no result could speak against what was said. */
    NOT_JUDGED("not judged"),
    /** Nobody can tell from these results. */
    NOT_MEASURED("not measured");

    private final String words;

    Verdict(String words) {
        this.words = words;
    }

    /** For people. */
    public String words() {
        return words;
    }

    static Verdict of(boolean holds) {
        return holds ? HOLDS : DOES_NOT_HOLD;
    }
}
