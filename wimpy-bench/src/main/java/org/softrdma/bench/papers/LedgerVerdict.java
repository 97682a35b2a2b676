package org.softrdma.bench.papers;

/** What became of a figure or table of a paper. */
public enum LedgerVerdict {
    /** Its shape is there. */
    HOLDS("holds"),
    /** It was measured, and is not. */
    DOES_NOT_HOLD("does not hold here, because"),
    /** The run was spoilt, or no result of it could speak against the shape. */
    NOT_JUDGED("not judged, because"),
    /** It is of a network card, and there is none. */
    MODEL_ONLY("model only"),
    /** The text of the paper that this project has does not have it. */
    NOT_IN_OUR_TEXT("not in our text of the paper"),
    /** No results are there that show it. */
    NOT_RUN("not run, because");

    private final String words;

    LedgerVerdict(String words) {
        this.words = words;
    }

    /** For people; the reason follows where it ends in "because". */
    public String words() {
        return words;
    }
}
