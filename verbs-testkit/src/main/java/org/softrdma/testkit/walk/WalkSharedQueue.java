package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.verbs.SharedReceiveQueue;

/**
 * A shared receive queue, its RECVs and the queue pairs that use it. A message takes any of the RECVs. The walk's
 * thread.
 */
final class WalkSharedQueue {
    private final SharedReceiveQueue queue;
    private final WalkDomain domain;
    private final Map<Long, WalkRequest> receives = new LinkedHashMap<>();
    private final List<WalkEnd> ends = new ArrayList<>();
    private final LimitEvents limits = new LimitEvents();
    private int lost;

    WalkSharedQueue(SharedReceiveQueue queue, WalkDomain domain) {
        this.queue = queue;
        this.domain = domain;
    }

    SharedReceiveQueue verbs() {
        return queue;
    }

    WalkDomain domain() {
        return domain;
    }

    /** RECVs whose completions were not polled, by their numbers, in posting order. Some may never complete. */
    Map<Long, WalkRequest> receives() {
        return receives;
    }

    /** The open ones. */
    List<WalkEnd> ends() {
        return ends;
    }

    LimitEvents limits() {
        return limits;
    }

    /**
     * Most RECVs that queue pairs have taken along when they were closed: their completions never come, and nobody knows
     * which they are.
     */
    int lost() {
        return Math.min(lost, receives.size());
    }

    /** RECVs that are there for certain for messages to come; less than 0 if one under way may find none. */
    int certain() {
        return receives.size()
                - lost()
                - ends.stream().mapToInt(end -> end.unreceived().size()).sum();
    }

    /** True if any RECV takes any message of this length. */
    boolean fits(int length) {
        return certain() > 0 && receives.values().stream().noneMatch(receive -> fails(receive, length));
    }

    private static boolean fails(WalkRequest receive, int length) {
        return length > receive.length() || receive.fault() != Fault.NONE || receive.isVulnerable();
    }

    /** A queue pair is closed. */
    void leave(WalkEnd end) {
        lost = lost() + end.unreceived().size();
        ends.remove(end);
        changed();
    }

    /** RECVs or messages have come or gone: sees what may come of those under way. */
    void changed() {
        int certain = certain();
        limits.see(Math.max(0, certain), receives.size());
        for (WalkEnd end : ends) {
            for (WalkRequest message : end.unreceived()) {
                if (certain < 0) {
                    end.connection().mayEnd("messages without RECVs in a shared queue");
                }
                for (WalkRequest receive : receives.values()) {
                    if (fails(receive, message.isOneSided() ? 0 : message.length())) {
                        end.connection().mayEnd(message + " into " + receive);
                    }
                }
            }
        }
    }

    @Override
    public String toString() {
        return "shared queue of " + receives.size() + " RECVs, at most " + lost() + " lost";
    }
}
