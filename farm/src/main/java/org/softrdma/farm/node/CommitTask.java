package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.transaction.Coordinator;
import org.softrdma.farm.transaction.ObjectVersion;
import org.softrdma.farm.transaction.TxId;
import org.softrdma.farm.transaction.WriteEntry;

/**
 * Commits a transaction: carries the messages of its {@link Coordinator}. It is done when the application can be told; the
 * coordinator goes on until all have answered. An epoch that comes after PREPARE was sent leaves the outcome unknown. The
 * node's thread.
 */
final class CommitTask extends NodeTask {
    private final NodeParts node;
    private final int epochOfReads;
    private final List<WriteEntry> written;
    private final List<ObjectVersion> read;
    private @Nullable Coordinator coordinator;
    private Coordinator.Told told = Coordinator.Told.NOTHING;
    private String reason = "";
    private TxId id = new TxId(0, 0, 0);
    private boolean unknown;

    CommitTask(NodeParts node, FarmTransaction transaction) {
        this.node = node;
        epochOfReads = transaction.epoch();
        written = transaction.written();
        read = transaction.onlyRead();
    }

    /** What came of it, once it is done. */
    <T> TransactionOutcome<T> outcome(@Nullable T value) {
        if (unknown) {
            return new TransactionOutcome.Unknown<>(id);
        }
        return told == Coordinator.Told.COMMITTED
                ? new TransactionOutcome.Committed<>(value)
                : new TransactionOutcome.Aborted<>(reason);
    }

    @Override
    boolean advance(long nowNs) {
        if (coordinator == null
                && !unknown
                && told == Coordinator.Told.NOTHING
                && node.member().isRunning()) {
            begin();
        }
        return unknown || told != Coordinator.Told.NOTHING;
    }

    private void begin() {
        if (epochOfReads != FarmTransaction.ANY_EPOCH
                && epochOfReads != node.member().epoch()) {
            abort("an epoch has begun");
            return;
        }
        id = new TxId(node.member().epoch(), node.machine(), node.numbers().begin());
        Coordinator made = new Coordinator(
                id, written, read, region -> node.space().configuration().primary(region), this::send);
        coordinator = made;
        made.begin();
        look(made);
    }

    private void send(int machine, ByteBuffer message) {
        node.request(machine, message, answer -> {
            Coordinator current = coordinator;
            if (current != null) {
                current.onAnswer(machine, answer);
                look(current);
            }
        });
    }

    private void look(Coordinator current) {
        if (told == Coordinator.Told.NOTHING) {
            told = current.told();
            reason = current.reason();
            boolean readOnly = written.isEmpty() && told == Coordinator.Told.COMMITTED;
            if (readOnly && !node.member().counts(id.epoch(), node.clock().nanoTime())) {
                abort("the lease is over");
            }
        }
        if (current.phase() == Coordinator.Phase.OVER) {
            node.numbers().over(id.number());
        }
    }

    private void abort(String why) {
        told = Coordinator.Told.ABORTED;
        reason = why;
    }

    @Override
    void onEpoch() {
        Coordinator current = coordinator;
        if (current != null && told == Coordinator.Told.NOTHING) {
            if (written.isEmpty()) {
                abort("an epoch has begun");
            } else {
                unknown = true;
            }
        }
    }
}
