package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A reused completion tells what belongs to its last request, and nothing of those before. */
class WorkCompletionTest {
    private static final int IMMEDIATE = 0x8123_4567;
    private static final int KEY = 0x0042_4217;

    private final WorkCompletion completion = new WorkCompletion();

    @Test
    void shouldKeepTheLengthWhereBytesAreFetchedOrReceived() {
        for (CompletionOpcode opcode : CompletionOpcode.values()) {
            completion.succeeded(1, 2, opcode, 8);
            boolean has = switch (opcode) {
                case READ, COMPARE_AND_SWAP, FETCH_AND_ADD, RECEIVE, RECEIVE_WRITE_IMMEDIATE -> true;
                case SEND, WRITE, INVALIDATE, BIND_WINDOW -> false;
            };
            assertEquals(has ? 8 : 0, completion.byteLength(), opcode.name());
        }
    }

    @Test
    void shouldGiveTheImmediateOfAReceive() {
        for (CompletionOpcode opcode :
                new CompletionOpcode[] {CompletionOpcode.RECEIVE, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE}) {
            completion.succeeded(1, 2, opcode, 8);
            assertFalse(completion.hasImmediate());
            assertThrows(IllegalStateException.class, completion::immediate);
            completion.withImmediate(IMMEDIATE);
            assertTrue(completion.hasImmediate());
            assertEquals(IMMEDIATE, completion.immediate());
            assertFalse(completion.hasInvalidatedKey());
        }
    }

    @Test
    void shouldGiveTheKeyThatAPeerHasInvalidated() {
        completion.succeeded(1, 2, CompletionOpcode.RECEIVE, 8);
        assertFalse(completion.hasInvalidatedKey());
        assertThrows(IllegalStateException.class, completion::invalidatedKey);
        completion.withInvalidatedKey(KEY);
        assertTrue(completion.hasInvalidatedKey());
        assertEquals(KEY, completion.invalidatedKey());
        assertFalse(completion.hasImmediate());
    }

    @Test
    void shouldForgetWhatCameWithTheReceiveBefore() {
        completion.succeeded(1, 2, CompletionOpcode.RECEIVE, 8);
        completion.withImmediate(IMMEDIATE);
        completion.withInvalidatedKey(KEY);
        completion.succeeded(2, 2, CompletionOpcode.RECEIVE, 8);
        assertFalse(completion.hasImmediate());
        assertFalse(completion.hasInvalidatedKey());
    }

    @Test
    void shouldHaveNoImmediateWhereNothingWasReceived() {
        for (CompletionOpcode opcode : CompletionOpcode.values()) {
            completion.succeeded(7, 2, opcode, 8);
            if (!opcode.isReceive()) {
                IllegalStateException refused =
                        assertThrows(IllegalStateException.class, completion::hasImmediate, opcode.name());
                assertTrue(String.valueOf(refused.getMessage()).contains(opcode.name()), refused::getMessage);
                assertThrows(IllegalStateException.class, completion::immediate, opcode.name());
                assertThrows(IllegalStateException.class, completion::hasInvalidatedKey, opcode.name());
                assertThrows(IllegalStateException.class, completion::invalidatedKey, opcode.name());
            }
        }
    }

    @Test
    void shouldTellTheObserverWhenAFailureIsAskedForItsImmediate() {
        completion.succeeded(1, 2, CompletionOpcode.RECEIVE, 8);
        completion.withImmediate(IMMEDIATE);
        completion.failed(3, 2, CompletionStatus.FLUSHED, 0);
        List<String> told = new ArrayList<>();
        completion.onInvalidField(told::add);
        assertThrows(IllegalStateException.class, completion::hasImmediate);
        assertThrows(IllegalStateException.class, completion::invalidatedKey);
        assertEquals(List.of("hasImmediate", "invalidatedKey"), told);
    }

    @Test
    void shouldTellTheSourceOfADatagramAndOfNothingElse() {
        completion.succeeded(1, 2, CompletionOpcode.RECEIVE, 48);
        assertFalse(completion.isDatagram());
        assertThrows(IllegalStateException.class, completion::sourceNumber);
        assertThrows(IllegalStateException.class, completion::hasRoutingHeader);
        completion.withSource(0xABCDEF, true);
        assertTrue(completion.isDatagram() && completion.hasRoutingHeader());
        assertEquals(0xABCDEF, completion.sourceNumber());
        completion.withSource(17, false);
        assertFalse(completion.hasRoutingHeader());
        completion.succeeded(1, 2, CompletionOpcode.RECEIVE, 8);
        assertFalse(completion.isDatagram(), "of the completion before");
        completion.succeeded(1, 2, CompletionOpcode.SEND, 0);
        assertThrows(IllegalStateException.class, completion::isDatagram);
    }
}
