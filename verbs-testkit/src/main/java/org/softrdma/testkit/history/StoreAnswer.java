package org.softrdma.testkit.history;

/**
 * What a store answers.
 *
 * @param kind which answer
 * @param value the value that it tells
 */
public record StoreAnswer(Kind kind, long value) {
    /** The answer. */
    public enum Kind {
        /** A value: of a GET, or the sum of an INCREMENT. */
        VALUE,
        /** Stored, or deleted. */
        DONE,
        /** Not stored: an ADD found a value, a CAS another one than expected. */
        REFUSED,
        /** There is no value. */
        MISSING,
        /** Nothing is stored, and what was there is gone: for want of memory, or because the value expired at once. */
        GONE
    }

    /** Stored, or deleted. */
    public static final StoreAnswer DONE = new StoreAnswer(Kind.DONE, 0);

    /** Not stored: an ADD found a value, a CAS another one than expected. */
    public static final StoreAnswer REFUSED = new StoreAnswer(Kind.REFUSED, 0);

    /** There is no value. */
    public static final StoreAnswer MISSING = new StoreAnswer(Kind.MISSING, 0);

    /** Nothing is stored, and what was there is gone: for want of memory, or because the value expired at once. */
    public static final StoreAnswer GONE = new StoreAnswer(Kind.GONE, 0);

    /** A value. */
    public static StoreAnswer value(long value) {
        return new StoreAnswer(Kind.VALUE, value);
    }

    @Override
    public String toString() {
        return switch (kind) {
            case VALUE -> Long.toString(value);
            case DONE -> "done";
            case REFUSED -> "refused";
            case MISSING -> "missing";
            case GONE -> "gone";
        };
    }
}
