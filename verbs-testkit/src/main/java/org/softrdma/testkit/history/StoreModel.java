package org.softrdma.testkit.history;

import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A key of a store: a value or none, and none at first. Of a store that may lose keys (by eviction or expiry) a key may
 * vanish at any time: whoever misses it has it gone, until it is written again. A lost SET of such a store may also
 * have ended for want of memory, which needs no step of its own, since the key may vanish.
 */
public final class StoreModel implements Model<OptionalLong, StoreCall, StoreAnswer> {
    private static final OptionalLong ABSENT = OptionalLong.empty();

    private final boolean mayLose;

    private StoreModel(boolean mayLose) {
        this.mayLose = mayLose;
    }

    /** A store whose keys stay until they are deleted. */
    public static StoreModel keeping() {
        return new StoreModel(false);
    }

    /** A store that may lose any key at any time. */
    public static StoreModel losing() {
        return new StoreModel(true);
    }

    @Override
    public OptionalLong initial() {
        return ABSENT;
    }

    @Override
    public Optional<OptionalLong> step(OptionalLong state, StoreCall call, @Nullable StoreAnswer answer) {
        if (answer == null) {
            return unknown(state, call);
        }
        return switch (answer.kind()) {
            case VALUE -> told(state, call, answer.value());
            case DONE -> done(state, call);
            case REFUSED -> {
                boolean another = call.kind() != StoreCall.Kind.CAS || state.orElse(0) != call.expected();
                yield state.isPresent() && another ? Optional.of(state) : Optional.empty();
            }
            case MISSING -> state.isEmpty() || mayLose ? Optional.of(ABSENT) : Optional.empty();
            case GONE -> Optional.of(ABSENT);
        };
    }

    private static Optional<OptionalLong> told(OptionalLong state, StoreCall call, long value) {
        long by = call.kind() == StoreCall.Kind.INCREMENT ? call.value() : 0;
        return state.isPresent() && state.getAsLong() + by == value
                ? Optional.of(OptionalLong.of(value))
                : Optional.empty();
    }

    private Optional<OptionalLong> done(OptionalLong state, StoreCall call) {
        OptionalLong value = OptionalLong.of(call.value());
        return switch (call.kind()) {
            case SET -> Optional.of(value);
            case ADD -> state.isEmpty() || mayLose ? Optional.of(value) : Optional.empty();
            case CAS -> state.equals(OptionalLong.of(call.expected())) ? Optional.of(value) : Optional.empty();
            case DELETE -> state.isPresent() ? Optional.of(ABSENT) : Optional.empty();
            case GET, INCREMENT -> throw nonsense(call, StoreAnswer.DONE);
        };
    }

    /** What has no effect in a state never took effect. */
    private Optional<OptionalLong> unknown(OptionalLong state, StoreCall call) {
        return switch (call.kind()) {
            case GET -> Optional.empty();
            case DELETE -> Optional.of(ABSENT);
            case INCREMENT ->
                state.isEmpty() ? Optional.empty() : Optional.of(OptionalLong.of(state.getAsLong() + call.value()));
            case SET, ADD, CAS -> done(state, call);
        };
    }

    @Override
    public Effect<OptionalLong> effect(StoreCall call, @Nullable StoreAnswer answer) {
        if (answer == null) {
            return effectOfUnknown(call);
        }
        return switch (answer.kind()) {
            case VALUE -> {
                OptionalLong value = OptionalLong.of(answer.value());
                yield switch (call.kind()) {
                    case GET -> Effect.reads(value);
                    case INCREMENT -> Effect.moves(OptionalLong.of(answer.value() - call.value()), value);
                    case SET, ADD, CAS, DELETE -> throw nonsense(call, answer);
                };
            }
            case DONE -> call.kind() == StoreCall.Kind.DELETE ? Effect.makes(ABSENT) : effectOfUnknown(call);
            case REFUSED -> Effect.looks();
            case MISSING -> mayLose ? Effect.decays(ABSENT) : Effect.reads(ABSENT);
            case GONE -> Effect.writes(ABSENT);
        };
    }

    private Effect<OptionalLong> effectOfUnknown(StoreCall call) {
        OptionalLong value = OptionalLong.of(call.value());
        return switch (call.kind()) {
            case GET -> Effect.looks();
            case SET -> Effect.writes(value);
            case ADD -> mayLose ? Effect.writes(value) : Effect.moves(ABSENT, value);
            case CAS -> Effect.moves(OptionalLong.of(call.expected()), value);
            case DELETE -> Effect.writes(ABSENT);
            case INCREMENT -> Effect.unspecified();
        };
    }

    private static IllegalArgumentException nonsense(StoreCall call, StoreAnswer answer) {
        return new IllegalArgumentException("\"" + answer + "\" is no answer to \"" + call + "\"");
    }
}
