package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.List;

/** A history of one key of a store, written by hand. */
final class Script {
    static final String KEY = "k";

    private final List<Operation<StoreCall, StoreAnswer>> operations = new ArrayList<>();

    /** An operation that was answered. */
    Script did(String process, long invoked, long returned, StoreCall call, StoreAnswer answer) {
        operations.add(new Operation<>(process, KEY, call, answer, invoked, returned));
        return this;
    }

    /** A write or removal that was answered with success. */
    Script done(String process, long invoked, long returned, StoreCall call) {
        return did(process, invoked, returned, call, StoreAnswer.DONE);
    }

    /** A get that was answered with a value. */
    Script got(String process, long invoked, long returned, long value) {
        return did(process, invoked, returned, StoreCall.get(), StoreAnswer.value(value));
    }

    /** A get that was answered with a miss. */
    Script missed(String process, long invoked, long returned) {
        return did(process, invoked, returned, StoreCall.get(), StoreAnswer.MISSING);
    }

    /** An operation whose answer was lost. */
    Script lost(String process, long invoked, StoreCall call) {
        operations.add(Operation.unknown(process, KEY, call, invoked));
        return this;
    }

    HistoryVerdict<StoreCall, StoreAnswer> check(StoreModel model) {
        return new HistoryChecker<>(model).check(operations);
    }
}
