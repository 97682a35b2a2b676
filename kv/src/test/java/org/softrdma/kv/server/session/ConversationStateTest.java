package org.softrdma.kv.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.softrdma.kv.server.session.ConversationState.AWAITING;
import static org.softrdma.kv.server.session.ConversationState.CLOSING;
import static org.softrdma.kv.server.session.ConversationState.RUNNING;
import static org.softrdma.kv.server.session.ConversationState.SUSPENDED;
import static org.softrdma.kv.server.session.ConversationState.WATCHING;
import static org.softrdma.kv.server.session.ConversationState.YIELDING;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ConversationStateTest {
    private static final Map<ConversationState, Set<ConversationState>> ALLOWED = Map.of(
            RUNNING, Set.of(SUSPENDED, AWAITING, YIELDING, WATCHING, CLOSING),
            SUSPENDED, Set.of(RUNNING, CLOSING),
            AWAITING, Set.of(SUSPENDED, CLOSING),
            YIELDING, Set.of(RUNNING, CLOSING),
            WATCHING, Set.of(CLOSING),
            CLOSING, Set.of());

    @ParameterizedTest
    @EnumSource
    void shouldGoWhereTheTableSaysAndNowhereElse(ConversationState from) {
        for (ConversationState to : ConversationState.values()) {
            if (from == CLOSING) {
                assertEquals(CLOSING, from.to(to), "what is closing stays so");
            } else if (to == from || ALLOWED.getOrDefault(from, Set.of()).contains(to)) {
                assertEquals(to, from.to(to));
            } else {
                assertThrows(IllegalStateException.class, () -> from.to(to));
            }
        }
    }
}
