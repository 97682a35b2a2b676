package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;

/**
 * One bind of a window: what it opens, to the peer of which queue pair, and how certain it is that it is in force. The
 * walk's thread.
 */
final class WalkBinding {
    private final WalkWindow window;
    private final WalkEnd end;
    private final Part part;
    private final Set<AccessFlag> access;
    private final List<WalkRequest> requests = new ArrayList<>();
    private State state = State.POSTED;
    private int key;
    private @Nullable WalkEnd leavesOn;
    private @Nullable WalkRequest contester;

    /** What the model knows. */
    private enum State {
        /** The bind is under way. */
        POSTED,
        /** The bind is done, and nobody has asked to take the key back. */
        BOUND,
        /** It may be in force or not: it is being taken back, or the bind was flushed. */
        UNSURE,
        /** It is not in force, and never will be again. */
        GONE
    }

    /**
     * A bind to be posted.
     *
     * @param window what is bound
     * @param end whose peer may use it
     * @param part of the region that it opens
     * @param access what the peer may do
     */
    WalkBinding(WalkWindow window, WalkEnd end, Part part, Set<AccessFlag> access) {
        this.window = window;
        this.end = end;
        this.part = part;
        this.access = EnumSet.copyOf(access); // in one order, so that a seed gives one text
    }

    WalkWindow window() {
        return window;
    }

    WalkEnd end() {
        return end;
    }

    Part part() {
        return part;
    }

    Set<AccessFlag> access() {
        return access;
    }

    /** Its rkey, also once it is gone. */
    int key() {
        return key;
    }

    /** Requests that bind it or take it back. */
    List<WalkRequest> requests() {
        return requests;
    }

    // ---- what happens

    /** The bind was accepted. */
    void posted(WalkRequest bind, int newKey) {
        requests.add(bind);
        key = newKey;
    }

    /** The bind has succeeded. */
    void succeeded() {
        if (state == State.POSTED) {
            state = State.BOUND;
        }
    }

    /** A request takes it back, or the bind was flushed: nobody knows for a while. */
    void doubt() {
        if (state != State.GONE) {
            state = State.UNSURE;
        }
    }

    /** Its own queue pair takes it back: requests behind that one find it gone. */
    void leaves(WalkRequest invalidation) {
        doubt();
        requests.add(invalidation);
        leavesOn = end;
    }

    /** It is not in force any more. */
    void gone() {
        state = State.GONE;
    }

    /** A second bind was posted that must fail, as long as nobody takes this one back. */
    void contested(WalkRequest bind) {
        contester = bind;
    }

    // ---- what is certain

    boolean isGone() {
        return state == State.GONE;
    }

    boolean isBound() {
        return state == State.BOUND;
    }

    /** It is in force for the requests behind those that its own queue pair has accepted. */
    boolean isBoundInOrder() {
        return state == State.BOUND || state == State.POSTED;
    }

    /** Requests of this queue pair that are posted now find it gone. */
    boolean isGoneInOrder(WalkEnd forWhom) {
        return isGone() || (state == State.UNSURE && leavesOn == forWhom);
    }

    /** A second bind is under way. */
    boolean isContested() {
        return contester != null && contester.end().sends().contains(contester);
    }

    /** Its peer may do so. */
    boolean allows(WalkEnd who, AccessFlag right) {
        return end.peer() == who && who != end && access.contains(right);
    }

    @Override
    public String toString() {
        return state + " bind 0x" + Integer.toHexString(key) + " " + access + " of " + part.length() + " bytes from "
                + part.offset() + " of " + part.region() + " on " + end;
    }
}
