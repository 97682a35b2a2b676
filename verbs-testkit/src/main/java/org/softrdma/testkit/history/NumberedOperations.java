package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The operations of one key by number, and the states of its model by number. First come the known ones in order of
 * their invocations, then the kinds of unknown ones: unknown operations with equal inputs are one entry, since of two
 * such the one that was invoked first may as well be the first to take effect. Unknown reads are left out. Single
 * thread.
 */
final class NumberedOperations<S, I, O> {
    /** No state: the operation needs none, makes none, or is impossible. */
    static final int NONE = -1;

    private final Model<S, I, O> model;
    private final Map<S, Integer> numbers = new HashMap<>();
    private final List<S> states = new ArrayList<>();
    private final List<Operation<I, O>> entries = new ArrayList<>();
    private final List<Effect.Kind> kinds = new ArrayList<>();
    private final IntStack needs = new IntStack();
    private final IntStack makes = new IntStack();
    private final List<List<Operation<I, O>>> unknownKinds = new ArrayList<>();
    private final int known;

    NumberedOperations(Model<S, I, O> model, List<Operation<I, O>> operations) {
        this.model = model;
        number(model.initial());
        List<Operation<I, O>> sorted = operations.stream()
                .sorted(Comparator.comparingLong(Operation::invoked))
                .toList();
        Map<I, List<Operation<I, O>>> unknown = new LinkedHashMap<>();
        for (Operation<I, O> operation : sorted) {
            if (operation.isKnown()) {
                enter(operation, effect(operation));
            } else {
                unknown.computeIfAbsent(operation.input(), input -> new ArrayList<>())
                        .add(operation);
            }
        }
        known = entries.size();
        unknown.values().forEach(this::enterUnknown);
    }

    private void enterUnknown(List<Operation<I, O>> alike) {
        Effect<S> effect = effect(alike.getFirst());
        if (effect.kind() != Effect.Kind.READ) {
            enter(alike.getFirst(), effect);
            unknownKinds.add(alike);
        }
    }

    private void enter(Operation<I, O> operation, Effect<S> effect) {
        S needed = effect.needs();
        S made = effect.makes();
        entries.add(operation);
        kinds.add(effect.kind());
        needs.push(needed == null ? NONE : number(needed));
        makes.push(made == null ? NONE : number(made));
    }

    private Effect<S> effect(Operation<I, O> operation) {
        return model.effect(operation.input(), operation.output());
    }

    /** Known operations are those below this number. */
    int known() {
        return known;
    }

    /** All entries. */
    int entries() {
        return entries.size();
    }

    /** States that are numbered so far. */
    int states() {
        return states.size();
    }

    /** How many operations an entry stands for: 1 if it is known. */
    int count(int entry) {
        return entry < known ? 1 : unknownKinds.get(entry - known).size();
    }

    /** The n-th operation of an entry. */
    Operation<I, O> operation(int entry, int n) {
        return entry < known
                ? entries.get(entry)
                : unknownKinds.get(entry - known).get(n);
    }

    /** When the n-th operation of an entry was invoked. */
    long invoked(int entry, int n) {
        return operation(entry, n).invoked();
    }

    /** When it returned. */
    long returned(int entry) {
        return entries.get(entry).returned();
    }

    /** The only state that it is possible in, or {@link #NONE}. */
    int needs(int entry) {
        return needs.at(entry);
    }

    /** The only state that it leaves, or {@link #NONE}. */
    int makes(int entry) {
        return makes.at(entry);
    }

    /** Once it leaves the state as it is, nothing is lost by letting it take effect. */
    boolean isFree(int entry) {
        Effect.Kind kind = kinds.get(entry);
        return kind == Effect.Kind.READ || kind == Effect.Kind.DECAY;
    }

    /** Leaves every state as it is. */
    boolean isRead(int entry) {
        return kinds.get(entry) == Effect.Kind.READ;
    }

    /** Possible in every state, with the same end: the state before it is lost unseen. */
    boolean isBlind(int entry) {
        Effect.Kind kind = kinds.get(entry);
        return kind == Effect.Kind.WRITE || kind == Effect.Kind.DECAY;
    }

    /** What it sees of the state before it is not told by {@link #needs}. */
    boolean isCurious(int entry) {
        return !isBlind(entry) && needs.at(entry) == NONE;
    }

    /** What it leaves is not told by {@link #makes}. */
    boolean isWild(int entry) {
        return !isRead(entry) && makes.at(entry) == NONE;
    }

    /**
     * The state after an entry's operation, or {@link #NONE} if it is impossible.
     *
     * @throws IllegalStateException if the model's step and effect contradict each other
     */
    int step(int state, int entry) {
        if (needs.at(entry) != NONE && needs.at(entry) != state) {
            return NONE;
        }
        Operation<I, O> operation = entries.get(entry);
        Optional<S> next = model.step(states.get(state), operation.input(), operation.output());
        if (next.isEmpty()) {
            if (isBlind(entry)) {
                throw lies(state, entry, "nothing");
            }
            return NONE;
        }
        int number = number(next.get());
        boolean asSaid = isRead(entry) ? number == state : isWild(entry) || number == makes.at(entry);
        if (!asSaid) {
            throw lies(state, entry, next.get());
        }
        return number;
    }

    private IllegalStateException lies(int state, int entry, Object next) {
        return new IllegalStateException("the model says that \""
                + entries.get(entry).words() + "\" leaves " + next + " after " + states.get(state)
                + ", but also that it "
                + effect(entries.get(entry)) + ": mend step or effect of "
                + model.getClass().getName());
    }

    private int number(S state) {
        Integer known = numbers.putIfAbsent(state, states.size());
        if (known == null) {
            states.add(state);
            return states.size() - 1;
        }
        return known;
    }
}
