package org.softrdma.run.uverbs;

import java.util.List;
import java.util.Optional;
import org.softrdma.run.card.CardAddress;
import org.softrdma.run.card.CardPair;
import org.softrdma.run.card.CardWindow;
import org.softrdma.run.card.CompletionRing;
import org.softrdma.run.card.SharedReceiveRing;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;

/** What a context has handles for. */
sealed interface VerbsObject {
    /**
     * A protection domain.
     *
     * @param card what the card has of it
     */
    record Domain(ProtectionDomain card) implements VerbsObject {}

    /**
     * A memory region.
     *
     * @param domain it is of
     * @param card what the card has of it
     * @param process whose memory it is
     * @param address where it begins there
     * @param length bytes
     * @param start where it begins for requests
     * @param access rights, as verbs number them
     */
    record Region(Domain domain, MemoryRegion card, int process, long address, long length, long start, int access)
            implements VerbsObject {}

    /**
     * A memory window.
     *
     * @param domain it is of
     * @param card what the card has of it
     */
    record Window(Domain domain, CardWindow card) implements VerbsObject {}

    /**
     * An address handle.
     *
     * @param domain it is of
     * @param card what the card has of it
     */
    record Address(Domain domain, CardAddress card) implements VerbsObject {}

    /**
     * A completion channel.
     *
     * @param pipe of its events
     */
    record Channel(EventPipe pipe) implements VerbsObject {}

    /**
     * A completion queue.
     *
     * @param card what the card has of it
     * @param channel where its events go
     */
    record Completions(CompletionRing card, Optional<Channel> channel) implements VerbsObject {}

    /**
     * A shared receive queue.
     *
     * @param card what the card has of it
     */
    record SharedReceives(Domain domain, SharedReceiveRing card) implements VerbsObject {}

    /**
     * A queue pair.
     *
     * @param card what the card has of it
     * @param cookie by which the program knows it
     * @param type as verbs number it
     * @param capacity five numbers: requests that the rings have room for, to send and to receive, pieces of each, bytes inline
     * @param receives empty if they are shared
     * @param attributes as MODIFY_QP has set them
     */
    record Pair(
            CardPair card,
            long cookie,
            int type,
            boolean allSignalled,
            Domain domain,
            Completions sendCompletions,
            Completions receiveCompletions,
            Optional<SharedReceives> shared,
            List<Integer> capacity,
            RxeRing sends,
            Optional<RxeRing> receives,
            PairAttributes attributes)
            implements VerbsObject {}
}
