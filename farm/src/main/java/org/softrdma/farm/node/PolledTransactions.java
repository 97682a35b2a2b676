package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Transactions without waiting, for an application on the node's thread: it begins some, calls {@link FarmNode#doWork}, and
 * takes what came of them. Bodies are those of {@link FarmNode#transact}. One that needs an object which is not here yet is
 * left, and runs again from its beginning when the object has come. So it must do the same whenever it has read the same, and
 * must not catch what the transaction throws. The node's thread.
 */
public final class PolledTransactions {
    private final NodeParts node;
    private final int window;
    private final List<NodeTask> tasks;
    private final BooleanSupplier isOver;
    private final List<Started> started = new ArrayList<>();

    /** Takes what came of transactions; it may start others. */
    public interface OutcomeHandler {
        /**
         * It is over.
         *
         * @param tag of the transaction
         * @param outcome what came of it; whoever wants what was aborted starts it again
         */
        void onOutcome(long tag, TransactionOutcome<?> outcome);

        /**
         * It has had no effect.
         *
         * @param tag of the transaction
         * @param reason what its body has thrown, or why it cannot be
         */
        void onFailure(long tag, Throwable reason);
    }

    private record Started(long tag, OutcomeTask task) {}

    PolledTransactions(NodeParts node, int window, List<NodeTask> tasks, BooleanSupplier isOver) {
        if (window < 1) {
            throw new IllegalArgumentException("window=" + window + ": expected at least 1");
        }
        this.node = node;
        this.window = window;
        this.tasks = tasks;
        this.isOver = isOver;
    }

    /**
     * Begins a transaction.
     *
     * @param body what it does; it runs within {@link FarmNode#doWork}, more than once
     * @param tag names the transaction
     * @return false if as many as may be are under way
     */
    public boolean start(TransactionBody<?> body, long tag) {
        return start(new TransactionTask<>(node, body), tag);
    }

    /**
     * Begins to run a function at the primary of an object, as {@link FarmNode#ship} does.
     *
     * @param address of the object
     * @param function number of the function
     * @param argument bytes for it
     * @param tag names the transaction, whose outcome has what the function returned, a {@code Long}
     * @return false if as many as may be are under way
     */
    public boolean startShip(long address, int function, byte[] argument, long tag) {
        return start(new FunctionTask<>(node, address, function, argument, FunctionTask.RESULT), tag);
    }

    /**
     * Begins to run a function at the primary of an object, as {@link FarmNode#ask} does.
     *
     * @param address of the object
     * @param function number of the function
     * @param argument bytes for it
     * @param tag names the transaction, whose outcome has what the function returned and told, a {@code ByteBuffer}
     * @return false if as many as may be are under way
     */
    public boolean startAsk(long address, int function, byte[] argument, long tag) {
        return start(new FunctionTask<>(node, address, function, argument, FunctionTask.ALL), tag);
    }

    private boolean start(OutcomeTask task, long tag) {
        if (started.size() == window) {
            return false;
        }
        started.add(new Started(tag, task));
        tasks.add(task);
        return true;
    }

    /** How many are under way, or over and not told yet. */
    public int outstanding() {
        return started.size();
    }

    /**
     * Tells what came of those that are over.
     *
     * @param handler takes it
     * @return how many
     */
    public int poll(OutcomeHandler handler) {
        int count = 0;
        for (int i = 0; i < started.size(); ) {
            Started next = started.get(i);
            if (next.task.isDone() || isOver.getAsBoolean()) {
                started.remove(i);
                count++;
                tell(next, handler);
            } else {
                i++;
            }
        }
        return count;
    }

    private static void tell(Started over, OutcomeHandler handler) {
        OutcomeTask task = over.task;
        Throwable thrown = task.thrown();
        if (thrown != null) {
            handler.onFailure(over.tag, thrown);
        } else if (task.isDone() || task.isBegun()) {
            handler.onOutcome(over.tag, task.outcome());
        } else {
            handler.onFailure(over.tag, FarmNode.removed());
        }
    }
}
