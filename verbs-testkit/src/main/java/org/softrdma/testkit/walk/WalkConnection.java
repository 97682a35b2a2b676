package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;

/** Two ends, and every reason why they may fail, or must. The walk's thread. */
final class WalkConnection {
    private final List<WalkEnd> ends = new ArrayList<>();
    private final List<Object> causes = new ArrayList<>();
    private boolean doomed;
    private boolean hostMayBeGone;

    void add(WalkEnd end) {
        ends.add(end);
    }

    /** It may end for this: a request, or words for people. */
    void mayEnd(Object cause) {
        if (!causes.contains(cause)) {
            causes.add(cause);
        }
    }

    /** It ends for this, sooner or later. */
    void mustEnd(Object cause) {
        mayEnd(cause);
        doomed = true;
    }

    /** A peer may be taken for one that is gone. */
    void mayLoseHost(Object cause) {
        mayEnd(cause);
        hostMayBeGone = true;
    }

    boolean mayEnd() {
        return !causes.isEmpty();
    }

    /** True if it may end for anything but this request. */
    boolean mayEndWithout(WalkRequest request) {
        return causes.stream().anyMatch(cause -> cause != request);
    }

    boolean mustEnd() {
        return doomed;
    }

    boolean hostMayBeGone() {
        return hostMayBeGone;
    }

    List<WalkEnd> ends() {
        return ends;
    }

    /** The other end; the end itself as long as there is no other. */
    WalkEnd peer(WalkEnd end) {
        return ends.getFirst() == end ? ends.getLast() : ends.getFirst();
    }

    @Override
    public String toString() {
        return "connection " + ends + (causes.isEmpty() ? "" : ", may end for " + causes);
    }
}
