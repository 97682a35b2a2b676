package org.softrdma.sim.queue;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.verbs.WorkCompletion;

/** Polls a completion queue and says what came in one line each. */
final class Completions {
    private static final int AT_ONCE = 16;

    private Completions() {}

    /** Everything in a queue: {@code wrId status vendorCode}, or {@code wrId opcode byteLength} of a success. */
    static List<String> drain(SoftCompletionQueue queue) {
        List<String> all = new ArrayList<>();
        WorkCompletion[] completions = WorkCompletion.array(AT_ONCE);
        for (int got = queue.poll(completions); got > 0; got = queue.poll(completions)) {
            for (int i = 0; i < got; i++) {
                all.add(describe(completions[i]));
            }
        }
        return all;
    }

    static String describe(WorkCompletion completion) {
        return completion.wrId()
                + (completion.isSuccess()
                        ? " " + completion.opcode() + " " + completion.byteLength()
                        : " " + completion.status() + " " + completion.vendorCode());
    }
}
