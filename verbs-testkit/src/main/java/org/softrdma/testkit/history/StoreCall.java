package org.softrdma.testkit.history;

/**
 * What a client asks of one key of a store. Values are numbers: a test gives each value that it writes a number of its
 * own.
 *
 * @param kind which command
 * @param value what is written or added
 * @param expected what a compare-and-set compares with
 */
public record StoreCall(Kind kind, long value, long expected) {
    /** The command. */
    public enum Kind {
        /** Asks for the value. */
        GET,
        /** Writes a value. */
        SET,
        /** Writes a value if there is none. */
        ADD,
        /** Writes a value if the present one is the expected one. */
        CAS,
        /** Removes the value. */
        DELETE,
        /** Adds to the value, and asks for the sum. */
        INCREMENT
    }

    /** Asks for the value. */
    public static StoreCall get() {
        return new StoreCall(Kind.GET, 0, 0);
    }

    /** Writes a value. */
    public static StoreCall set(long value) {
        return new StoreCall(Kind.SET, value, 0);
    }

    /** Writes a value if there is none. */
    public static StoreCall add(long value) {
        return new StoreCall(Kind.ADD, value, 0);
    }

    /**
     * Writes a value in place of another.
     *
     * @param expected the other
     */
    public static StoreCall cas(long expected, long value) {
        return new StoreCall(Kind.CAS, value, expected);
    }

    /** Removes the value. */
    public static StoreCall delete() {
        return new StoreCall(Kind.DELETE, 0, 0);
    }

    /**
     * Adds to the value, modulo 2^64.
     *
     * @param by how much
     */
    public static StoreCall increment(long by) {
        return new StoreCall(Kind.INCREMENT, by, 0);
    }

    @Override
    public String toString() {
        return switch (kind) {
            case GET -> "get";
            case SET -> "set " + value;
            case ADD -> "add " + value;
            case CAS -> "cas " + expected + " to " + value;
            case DELETE -> "delete";
            case INCREMENT -> "increment by " + value;
        };
    }
}
