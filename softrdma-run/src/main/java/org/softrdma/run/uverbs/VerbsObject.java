package org.softrdma.run.uverbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.softrdma.run.rxe.RxeRing;

/** What a context has handles for. */
sealed interface VerbsObject {
    /** A protection domain. */
    record Domain() implements VerbsObject {}

    /**
     * A memory region.
     *
     * @param domain it is of
     * @param address of it, in the program
     * @param length bytes
     * @param start of it, as requests address it
     * @param access rights
     * @param key lkey and rkey
     */
    record Region(Domain domain, long address, long length, long start, int access, int key) implements VerbsObject {}

    /**
     * A completion channel.
     *
     * @param writingEnd of its pipe
     */
    record Channel(int writingEnd) implements VerbsObject {}

    /**
     * A completion queue.
     *
     * @param cookie by which the program knows it
     * @param ring of completions
     */
    record Completions(long cookie, RxeRing ring) implements VerbsObject {}

    /**
     * A shared receive queue.
     *
     * @param cookie by which the program knows it
     * @param ring of requests
     */
    record SharedReceives(long cookie, Domain domain, RxeRing ring) implements VerbsObject {}

    /**
     * A queue pair.
     *
     * @param number of it
     * @param type as verbs number it
     * @param capacity five numbers: requests to send and to receive, pieces of each, bytes inline
     * @param receives empty if they are shared
     * @param attributes as MODIFY_QP has set them
     */
    record Pair(
            int number,
            int type,
            boolean allSignalled,
            Domain domain,
            Completions sendCompletions,
            Completions receiveCompletions,
            Optional<SharedReceives> shared,
            List<Integer> capacity,
            RxeRing sends,
            Optional<RxeRing> receives,
            MemorySegment attributes)
            implements VerbsObject {}
}
