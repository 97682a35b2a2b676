package org.softrdma.kv.server.session;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Whether the next request of a connection may run. */
enum ConversationState {
    /** It runs as soon as it has come. */
    RUNNING,
    /** There is no room for output, or for answers to rgets. */
    SUSPENDED,
    /** Another thread works on the last request. */
    AWAITING,
    /** Other connections have their turn first. */
    YIELDING,
    /** There is no next one: the connection only receives events. */
    WATCHING,
    /** There is no next one: the connection ends, or has ended. */
    CLOSING;

    /** The table of transitions. Made once, because every turn looks into it. */
    private static final Map<ConversationState, Set<ConversationState>> NEXT = new EnumMap<>(Map.of(
            RUNNING, EnumSet.of(SUSPENDED, AWAITING, YIELDING, WATCHING, CLOSING),
            SUSPENDED, EnumSet.of(RUNNING, CLOSING),
            YIELDING, EnumSet.of(RUNNING, CLOSING),
            AWAITING, EnumSet.of(SUSPENDED, CLOSING),
            WATCHING, EnumSet.of(CLOSING),
            CLOSING, EnumSet.noneOf(ConversationState.class)));

    /** The state after a change. CLOSING is final. */
    ConversationState to(ConversationState wanted) {
        if (this == CLOSING || this == wanted) {
            return this;
        }
        if (!NEXT.getOrDefault(this, Set.of()).contains(wanted)) {
            throw new IllegalStateException("from " + this + " to " + wanted);
        }
        return wanted;
    }
}
