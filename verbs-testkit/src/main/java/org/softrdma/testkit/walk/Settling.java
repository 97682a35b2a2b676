package org.softrdma.testkit.walk;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.QueuePairState;

/** Waits for what must happen: completions, the ends of connections, events. The walk's thread. */
final class Settling {
    private final WalkState state;
    private final Judge judge;
    private final EventJudge events;

    Settling(WalkState state, Judge judge, EventJudge events) {
        this.state = state;
        this.judge = judge;
        this.events = events;
    }

    /** Arms, drains and waits, as a program does that sleeps until there is something to do. */
    boolean await(WalkNode node) {
        WalkQueue queue = state.any(node.queues().stream()
                        .filter(each -> each.channel() != null)
                        .toList())
                .orElse(null);
        if (queue == null) {
            return false;
        }
        CompletionChannel channel = Objects.requireNonNull(queue.channel());
        queue.verbs().requestNotification(false);
        while (judge.poll(queue) > 0) {
            // Until it is empty.
        }
        boolean expected = isExpecting(queue);
        state.note("await an event of " + node + (expected ? ", which must come" : ""));
        Optional<CompletionQueue> event = channel.await(expected ? WalkState.PATIENCE_NS : 0);
        if (expected && event.isEmpty()) {
            throw new WalkFailure(
                    "no event came for a completion queue that is armed, and requests are to complete there");
        }
        event.ifPresent(raised -> raised.acknowledgeEvents(1));
        return true;
    }

    private static boolean isExpecting(WalkQueue queue) {
        for (WalkEnd end : queue.ends()) {
            if (end.sendCompletions() == queue && isLively(end) && nextSignalled(end) != null) {
                return true;
            }
        }
        return false;
    }

    private static boolean isLively(WalkEnd end) {
        return end.isMade() && !end.connection().mayEnd();
    }

    private static @Nullable WalkRequest nextSignalled(WalkEnd end) {
        return end.sends().stream().filter(WalkRequest::isSignalled).findFirst().orElse(null);
    }

    /**
     * A request that completes in error whatever it was: one that was not signalled may have succeeded without a word.
     */
    private static @Nullable WalkRequest mustComplete(WalkEnd end) {
        return end.sends().stream()
                .filter(request -> request.isSignalled() || request.fault() == WalkRequest.Fault.LOCAL)
                .findFirst()
                .orElse(null);
    }

    /** Waits until everything has happened that must. */
    boolean settle() {
        state.note("settle");
        boolean settled = state.await(WalkState.PATIENCE_NS, () -> {
            judge.pollAll();
            events.takeAll();
            return unsettled() == null;
        });
        if (!settled) {
            throw new WalkFailure("after " + WalkState.PATIENCE_NS / 1_000_000_000 + " s " + unsettled());
        }
        return true;
    }

    /** Something that is still to happen; null if there is nothing. */
    private @Nullable String unsettled() {
        for (WalkEnd end : state.liveEnds()) {
            String missing = unsettled(end);
            if (missing != null) {
                return missing;
            }
        }
        return events.missing();
    }

    private static @Nullable String unsettled(WalkEnd end) {
        WalkRequest signalled = nextSignalled(end);
        if (isLively(end) && signalled != null) {
            return signalled + " on " + end + " has not completed; " + end.connection();
        }
        if (isLively(end) && end.received() < receivable(end)) {
            return end + " has received " + end.received() + " of "
                    + end.peer().messages().size() + " messages";
        }
        boolean bothLive =
                end.connection().ends().stream().noneMatch(each -> each.node().isDead());
        boolean ended = end.verbs().state() == QueuePairState.ERROR;
        if (end.connection().mustEnd() && bothLive && !ended) {
            return end + " is " + end.verbs().state() + "; " + end.connection();
        }
        if (ended && (mustComplete(end) != null || !end.receives().isEmpty())) {
            return end + " is in error, and does not flush " + end.sends() + " and " + end.receives();
        }
        if (end.connection().mayEnd() && !ended && signalled != null) {
            return signalled + " on " + end + " neither completes nor fails; " + end.connection();
        }
        return null;
    }

    /** Messages that must arrive: a connection on which one finds no RECV may end. */
    private static int receivable(WalkEnd end) {
        int sent = end.peer().messages().size();
        return end.shared() != null ? sent : Math.min(sent, end.allReceives().size());
    }
}
