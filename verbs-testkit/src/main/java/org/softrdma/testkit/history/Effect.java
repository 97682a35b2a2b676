package org.softrdma.testkit.history;

import org.jspecify.annotations.Nullable;

/**
 * What is known of an operation in whatever state it meets. Immutable.
 *
 * @param kind what it does to the state
 * @param needs the only state that it is possible in; null if there are more
 * @param makes the only state that it leaves when it changes anything; null if there are more
 * @param <S> type of states
 */
public record Effect<S>(
        Kind kind, @Nullable S needs, @Nullable S makes) {
    /** What an operation does to the state. */
    public enum Kind {
        /** It leaves every state as it is. */
        READ,
        /** It is possible in every state and leaves the same. */
        WRITE,
        /**
         * As {@link #WRITE}, of a state that any other may turn into by itself: after any state all is possible that is
         * possible after this one.
         */
        DECAY,
        /** Anything else. */
        CHANGE
    }

    /** Checks. */
    public Effect {
        boolean fits = switch (kind) {
            case READ -> makes == null;
            case WRITE, DECAY -> needs == null && makes != null;
            case CHANGE -> true;
        };
        if (!fits) {
            throw new IllegalArgumentException(kind + " that needs " + needs + " and makes " + makes
                    + ": a READ makes no state, a WRITE and a DECAY need none and make one");
        }
    }

    /**
     * It is possible in one state, and leaves it.
     *
     * @param state which
     */
    public static <S> Effect<S> reads(S state) {
        return new Effect<>(Kind.READ, state, null);
    }

    /** It leaves every state as it is, and is possible in some. */
    public static <S> Effect<S> looks() {
        return new Effect<>(Kind.READ, null, null);
    }

    /**
     * It is possible in every state.
     *
     * @param state what it leaves
     */
    public static <S> Effect<S> writes(S state) {
        return new Effect<>(Kind.WRITE, null, state);
    }

    /**
     * It finds a state that any other may turn into by itself.
     *
     * @param state which
     */
    public static <S> Effect<S> decays(S state) {
        return new Effect<>(Kind.DECAY, null, state);
    }

    /**
     * It is possible in one state.
     *
     * @param from which
     * @param to what it leaves
     */
    public static <S> Effect<S> moves(S from, S to) {
        return new Effect<>(Kind.CHANGE, from, to);
    }

    /**
     * It is possible in some states.
     *
     * @param state what it leaves
     */
    public static <S> Effect<S> makes(S state) {
        return new Effect<>(Kind.CHANGE, null, state);
    }

    /** Nothing is known. */
    public static <S> Effect<S> unspecified() {
        return new Effect<>(Kind.CHANGE, null, null);
    }
}
