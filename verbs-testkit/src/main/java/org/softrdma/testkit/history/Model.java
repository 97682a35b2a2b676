package org.softrdma.testkit.history;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sequential specification of one key: what its operations do, one after the other. Has no state of its own; any
 * thread.
 *
 * @param <S> type of states; immutable, with {@code equals} and {@code hashCode}
 * @param <I> type of inputs
 * @param <O> type of outputs
 */
public interface Model<S, I, O> {
    /** The state of a key before its first operation. */
    S initial();

    /**
     * The state after an operation, or empty if it cannot have this output in this state.
     *
     * <p>A null output means an unknown outcome: the state after the operation took effect, or empty if it has none here.
     * That it never took effect is allowed anyway. Where an operation may do one thing or another without an output that
     * tells which, this must be the one after which all is possible that is possible after the other.
     *
     * @param state before
     * @param input what was asked
     * @param output what was answered; null if unknown
     */
    Optional<S> step(S state, I input, @Nullable O output);

    /**
     * What is known of an operation before its turn comes: with it the checker leaves most orders out. It must be true of
     * {@link #step} in every state; {@link Effect#unspecified} always is.
     *
     * @param input what was asked
     * @param output what was answered; null if unknown
     */
    default Effect<S> effect(I input, @Nullable O output) {
        return Effect.unspecified();
    }
}
