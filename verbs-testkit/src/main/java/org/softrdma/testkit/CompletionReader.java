package org.softrdma.testkit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.WorkCompletion;

/**
 * Reads a completion queue, with a deadline for each wait and a message that says what was waited for. A case fails if
 * it ends with completions unread. One thread reads.
 */
public final class CompletionReader implements AutoCloseable {
    private static final int BATCH = 32;

    private final CaseScope scope;
    private final CompletionQueue queue;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final Deque<Completion> unread = new ArrayDeque<>();
    private boolean leftoversAllowed;
    private boolean closed;

    CompletionReader(CaseScope scope, CompletionQueue queue) {
        this.scope = scope;
        this.queue = queue;
    }

    /** The queue itself. */
    public CompletionQueue queue() {
        return queue;
    }

    /**
     * The next completion, whatever its status.
     *
     * @param what names, in the message, what was waited for
     */
    public Completion next(String what) {
        if (unread.isEmpty()) {
            scope.await(what, () -> fill() > 0);
        }
        return unread.remove();
    }

    /**
     * The next completions, whatever their status.
     *
     * @param count how many
     * @param what names, in the message, what was waited for
     */
    public List<Completion> take(int count, String what) {
        List<Completion> taken = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            taken.add(next(what + " (" + (i + 1) + " of " + count + ")"));
        }
        return taken;
    }

    /**
     * Takes the next completion and fails unless it is this success.
     *
     * @param wrId number of its request
     * @param byteLength bytes moved; the completion of a SEND or WRITE says 0
     */
    public Completion expect(long wrId, CompletionOpcode opcode, long byteLength) {
        Completion completion = next("success of " + opcode + " with wrId " + wrId);
        boolean lengthCounts = opcode.hasByteLength();
        if (completion.wrId() != wrId
                || !completion.isSuccess()
                || completion.opcode() != opcode
                || completion.byteLength() != (lengthCounts ? byteLength : 0)) {
            throw new AssertionError("expected success of " + opcode + " with wrId " + wrId + " and "
                    + (lengthCounts ? byteLength : 0) + " bytes, got " + completion);
        }
        return completion;
    }

    /**
     * Takes the next completion and fails unless it belongs to this request and has one of these statuses.
     *
     * @param wrId number of its request
     * @param statuses lawful statuses
     * @param what names the request in the message
     */
    public Completion expect(long wrId, Set<CompletionStatus> statuses, String what) {
        Completion completion = next(what);
        if (completion.wrId() != wrId || !statuses.contains(completion.status())) {
            throw new AssertionError(
                    what + ": expected wrId " + wrId + " with one of " + statuses + ", got " + completion);
        }
        return completion;
    }

    /**
     * Fails if there is a completion now.
     *
     * @param why why there must be none
     */
    public void expectNone(String why) {
        fill();
        if (!unread.isEmpty()) {
            throw new AssertionError("unexpected completion, " + why + ": " + unread);
        }
    }

    /** Takes all completions that are there now. */
    public List<Completion> drain() {
        while (fill() > 0) {
            // Until the queue is empty.
        }
        List<Completion> all = new ArrayList<>(unread);
        unread.clear();
        return all;
    }

    /** Allows the case to end with completions unread. */
    public CompletionReader allowLeftovers() {
        leftoversAllowed = true;
        return this;
    }

    void expectNoLeftovers() {
        if (!closed && !leftoversAllowed) {
            expectNone("left at the end of the case");
        }
    }

    private int fill() {
        int count = queue.poll(batch, BATCH);
        for (int i = 0; i < count; i++) {
            Completion completion = Completion.of(batch[i]);
            if (completion.isSuccess()) {
                scope.countOperations(1);
            }
            unread.add(completion);
        }
        return count;
    }

    @Override
    public void close() {
        queue.close();
        closed = true;
    }
}
