package org.softrdma.kv.parity;

import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/** A protocol as the {@link Fuzzer} speaks it. */
interface Dialect {
    /** A request of this protocol, or something like one. */
    Unit next(RandomGenerator random);

    /** Stores an item. */
    Unit store();

    /** What makes both servers as they were at the beginning. */
    Unit reset();

    /**
     * A request that both answer alike, and by no bytes that stand in another answer.
     *
     * @param number in the request, and in its answer
     */
    byte[] marker(int number);

    /** The answer to that. */
    byte[] markerAnswer(int number);

    /** An answer without what may differ: numbers of cas, lengths of items. */
    String plain(String answer);

    /** The last cas number in an answer. */
    OptionalLong cas(String answer);
}
