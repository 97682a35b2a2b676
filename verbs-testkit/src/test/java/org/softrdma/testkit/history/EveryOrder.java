package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Tries all orders of all subsets: right for whoever reads it, and for tiny histories of one key only. */
final class EveryOrder<S, I, O> {
    private final Model<S, I, O> model;

    EveryOrder(Model<S, I, O> model) {
        this.model = model;
    }

    boolean isLinearizable(List<Operation<I, O>> operations) {
        return isLinearizable(model.initial(), operations);
    }

    private boolean isLinearizable(S state, List<Operation<I, O>> left) {
        if (left.stream().noneMatch(Operation::isKnown)) {
            return true;
        }
        for (int i = 0; i < left.size(); i++) {
            Operation<I, O> first = left.get(i);
            if (left.stream().noneMatch(other -> other.returned() < first.invoked())) {
                Optional<S> next = model.step(state, first.input(), first.output());
                List<Operation<I, O>> others = new ArrayList<>(left);
                others.remove(i);
                if (next.isPresent() && isLinearizable(next.get(), others)) {
                    return true;
                }
            }
        }
        return false;
    }
}
