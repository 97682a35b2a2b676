package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What each opcode is, and what it completes as. */
class OpcodesTest {
    private static Set<SendOpcode> sends(Predicate<SendOpcode> property) {
        return Stream.of(SendOpcode.values()).filter(property).collect(Collectors.toSet());
    }

    private static Set<CompletionOpcode> completions(Predicate<CompletionOpcode> property) {
        return Stream.of(CompletionOpcode.values()).filter(property).collect(Collectors.toSet());
    }

    @Test
    void shouldNameTheFeatureThatADeviceNeeds() {
        for (SendOpcode opcode : SendOpcode.values()) {
            Optional<Feature> needed = switch (opcode) {
                case SEND, WRITE, READ -> Optional.empty();
                case SEND_IMMEDIATE -> Optional.of(Feature.SEND_IMMEDIATE);
                case SEND_INVALIDATE -> Optional.of(Feature.SEND_INVALIDATE);
                case WRITE_IMMEDIATE -> Optional.of(Feature.WRITE_IMMEDIATE);
                case COMPARE_AND_SWAP, FETCH_AND_ADD -> Optional.of(Feature.ATOMICS);
                case INVALIDATE, BIND_WINDOW -> Optional.of(Feature.MEMORY_WINDOWS);
            };
            assertEquals(needed, opcode.feature(), opcode.name());
        }
    }

    @Test
    void shouldCompleteAsWhatWasPosted() {
        for (SendOpcode opcode : SendOpcode.values()) {
            CompletionOpcode expected = switch (opcode) {
                case SEND, SEND_IMMEDIATE, SEND_INVALIDATE -> CompletionOpcode.SEND;
                case WRITE, WRITE_IMMEDIATE -> CompletionOpcode.WRITE;
                case READ -> CompletionOpcode.READ;
                case COMPARE_AND_SWAP -> CompletionOpcode.COMPARE_AND_SWAP;
                case FETCH_AND_ADD -> CompletionOpcode.FETCH_AND_ADD;
                case INVALIDATE -> CompletionOpcode.INVALIDATE;
                case BIND_WINDOW -> CompletionOpcode.BIND_WINDOW;
            };
            assertEquals(expected, opcode.completion(), opcode.name());
        }
    }

    @Test
    void shouldTellWhatIsAnsweredWithData() {
        Set<SendOpcode> atomics = EnumSet.of(SendOpcode.COMPARE_AND_SWAP, SendOpcode.FETCH_AND_ADD);
        assertEquals(atomics, sends(SendOpcode::isAtomic));
        Set<SendOpcode> answered = EnumSet.copyOf(atomics);
        answered.add(SendOpcode.READ);
        assertEquals(answered, sends(SendOpcode::isAnswered));
    }

    @Test
    void shouldTellWhatConsumesAReceiveAndWhatCarriesData() {
        Set<SendOpcode> consuming = EnumSet.of(
                SendOpcode.SEND, SendOpcode.SEND_IMMEDIATE, SendOpcode.SEND_INVALIDATE, SendOpcode.WRITE_IMMEDIATE);
        assertEquals(consuming, sends(SendOpcode::consumesReceive));
        Set<SendOpcode> carrying = EnumSet.copyOf(consuming);
        carrying.add(SendOpcode.WRITE);
        assertEquals(carrying, sends(SendOpcode::carriesData));
    }

    @Test
    void shouldTellWhichCompletionsAreOfReceives() {
        assertEquals(
                EnumSet.of(CompletionOpcode.RECEIVE, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE),
                completions(CompletionOpcode::isReceive));
        assertEquals(
                EnumSet.of(
                        CompletionOpcode.READ,
                        CompletionOpcode.COMPARE_AND_SWAP,
                        CompletionOpcode.FETCH_AND_ADD,
                        CompletionOpcode.RECEIVE,
                        CompletionOpcode.RECEIVE_WRITE_IMMEDIATE),
                completions(CompletionOpcode::hasByteLength));
    }
}
