package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;

/** An application on the node's thread, which does what clients hand over. */
final class PolledApplication implements PolledTransactions.OutcomeHandler {
    private final FarmNode node;
    private final PolledTransactions transactions;
    private final Queue<Job> jobs = new ConcurrentLinkedQueue<>();
    private final List<Job> started = new ArrayList<>();

    /** What a client waits for. */
    private static final class Job {
        private final TransactionBody<?> body;
        private volatile @Nullable TransactionOutcome<?> outcome;
        private volatile @Nullable Throwable thrown;

        Job(TransactionBody<?> body) {
            this.body = body;
        }

        boolean isOver() {
            return outcome != null || thrown != null;
        }
    }

    PolledApplication(FarmNode node, int window) {
        this.node = node;
        transactions = node.polledTransactions(window);
    }

    /** The node's thread, after each turn and once when the node is over; true if it has done something. */
    boolean doWork() {
        for (Job job = jobs.peek(); job != null && transactions.start(job.body, started.size()); job = jobs.peek()) {
            jobs.remove();
            started.add(job);
        }
        return transactions.poll(this) > 0;
    }

    @Override
    public void onOutcome(long tag, TransactionOutcome<?> outcome) {
        started.get((int) tag).outcome = outcome;
    }

    @Override
    public void onFailure(long tag, Throwable reason) {
        started.get((int) tag).thrown = reason;
    }

    /** A thread of a client; throws what the application is told. */
    TransactionOutcome<?> transact(TransactionBody<?> body, IdleStrategy idle) {
        Job job = new Job(body);
        jobs.add(job);
        while (!job.isOver() && !(node.isOver() && jobs.contains(job))) {
            idle.idle();
        }
        TransactionOutcome<?> outcome = job.outcome;
        if (outcome != null) {
            return outcome;
        }
        throw job.thrown instanceof RuntimeException thrown ? thrown : new FarmException(FarmNode.REMOVED);
    }
}
