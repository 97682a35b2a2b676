package org.softrdma.bench.message;

import org.softrdma.verbs.WorkCompletion;

/**
 * One connection of an {@link EchoResponder}. The upper half of the numbers of its work requests is its index, see {@link #wrId}.
 * Belongs to the thread that polls.
 */
interface EchoConnection extends AutoCloseable {
    /** As a load signals its requests at least. */
    int LEAST_INTERVAL = 16;

    /** Takes a completion of one of its work requests. */
    void take(WorkCompletion completion);

    /** Answers what has come without a completion. */
    void look();

    /** What it was asked for. */
    EchoTerms terms();

    /** The private data of its acceptance. */
    byte[] welcome();

    /** True once its queue pair is in ERROR. */
    boolean isEnded();

    @Override
    void close();

    /**
     * One answer in so many is signalled. Where requests come back, few: each answer that is not signalled yet takes as much memory as
     * a request.
     */
    static int signalInterval(int window, long answer) {
        int least = answer == EchoTerms.SAME ? 1 : LEAST_INTERVAL;
        return Math.max(least, window / 2);
    }

    /** For a window of answers on their way, a window of those whose places are not used again yet, and the signalled one. */
    static int slots(int window, long answer) {
        return 2 * window + signalInterval(window, answer);
    }

    /** The most completions of a connection at a time, after an error too. */
    static int completions(EchoTerms terms) {
        int slots = slots(terms.window(), terms.answer());
        return terms.answers().isPresent() ? slots : 2 * slots;
    }

    /** The connection that a work request belongs to. */
    static int index(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    /** The slot that a work request is of. */
    static long slot(long wrId) {
        return wrId & 0xFFFF_FFFFL;
    }

    /** The number of a work request. */
    static long wrId(int index, long slot) {
        return (long) index << Integer.SIZE | slot;
    }
}
