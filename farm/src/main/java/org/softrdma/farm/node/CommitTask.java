package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.transaction.Coordinator;
import org.softrdma.farm.transaction.ObjectVersion;
import org.softrdma.farm.transaction.SingleMachineCommits;
import org.softrdma.farm.transaction.TxId;
import org.softrdma.farm.transaction.WriteEntry;

/**
 * Commits a transaction: ships it to the primary of all that it reads and writes, if one machine is that, and the replicas
 * are the same everywhere; else carries the messages of its {@link Coordinator}. It is done when the application can be
 * told; the coordinator goes on until all have answered. What an epoch interrupts is told when it is recovered. The node's
 * thread.
 */
final class CommitTask extends NodeTask {
    private final NodeParts node;
    private final int epochOfReads;
    private final List<WriteEntry> written;
    private final List<ObjectVersion> read;
    private @Nullable Coordinator coordinator;
    private volatile boolean begun;
    private Coordinator.Told told = Coordinator.Told.NOTHING;
    private String reason = "";
    private TxId id = new TxId(0, 0, 0);

    CommitTask(NodeParts node, FarmTransaction transaction) {
        this.node = node;
        epochOfReads = transaction.epoch();
        written = transaction.written();
        read = transaction.onlyRead();
    }

    /** True once it may have sent something. Any thread. */
    boolean isBegun() {
        return begun;
    }

    /** What came of it, once it is done; unknown, if this machine is no member any more before that. */
    <T> TransactionOutcome<T> outcome(@Nullable T value) {
        return switch (told) {
            case COMMITTED -> new TransactionOutcome.Committed<>(value);
            case ABORTED -> new TransactionOutcome.Aborted<>(reason);
            case NOTHING, UNKNOWN -> new TransactionOutcome.Unknown<>(id);
        };
    }

    @Override
    boolean advance(long nowNs) {
        if (!begun
                && !isOver()
                && node.member().isRunning()
                && node.transactions().mayBegin()) {
            return begin();
        }
        return isOver();
    }

    private boolean isOver() {
        return told != Coordinator.Told.NOTHING;
    }

    private boolean begin() {
        FarmConfiguration configuration = node.space().configuration();
        if (epochOfReads != FarmTransaction.ANY_EPOCH
                && epochOfReads != node.member().epoch()) {
            abort("an epoch has begun");
            return true;
        }
        if (!allArePlaced(configuration)) {
            abort("a region is lost");
            return true;
        }
        id = node.transactions().begin(this::onRecovered);
        begun = true;
        int most = node.context().longestMessage();
        int alone = onlyPrimary(configuration);
        ByteBuffer ship = alone == RegionPlacement.LOST
                ? null
                : SingleMachineCommits.ship(
                        id, written, read, node.transactions().truncated());
        if (ship != null && ship.limit() <= most) {
            node.request(alone, ship, this::onShipped);
            return isOver();
        }
        Coordinator made = new Coordinator(id, written, read, region -> placement(configuration, region), this::send);
        if (made.longestMessage() > most) {
            node.transactions().over(id);
            return fail("a message of " + made.longestMessage() + " bytes > longestMessage=" + most
                    + ": read and write less on one machine in a transaction");
        }
        coordinator = made;
        made.begin();
        look(made);
        return isOver();
    }

    // ---- where it is

    private static RegionPlacement placement(FarmConfiguration configuration, int region) {
        RegionPlacement placement = configuration.regions().get(region);
        return placement == null ? RegionPlacement.NOWHERE : placement;
    }

    private boolean allArePlaced(FarmConfiguration configuration) {
        for (WriteEntry entry : written) {
            if (placement(configuration, FarmAddress.region(entry.address())).isLost()) {
                return false;
            }
        }
        for (ObjectVersion version : read) {
            if (placement(configuration, FarmAddress.region(version.address())).isLost()) {
                return false;
            }
        }
        return true;
    }

    /** The primary of everything, if the same machines have all that is written; else {@link RegionPlacement#LOST}. */
    private int onlyPrimary(FarmConfiguration configuration) {
        if (written.isEmpty()) {
            return RegionPlacement.LOST;
        }
        RegionPlacement first =
                placement(configuration, FarmAddress.region(written.getFirst().address()));
        for (WriteEntry entry : written) {
            RegionPlacement other = placement(configuration, FarmAddress.region(entry.address()));
            if (other.primary() != first.primary()
                    || !new TreeSet<>(other.machines()).equals(new TreeSet<>(first.machines()))) {
                return RegionPlacement.LOST;
            }
        }
        for (ObjectVersion version : read) {
            if (configuration.primary(FarmAddress.region(version.address())) != first.primary()) {
                return RegionPlacement.LOST;
            }
        }
        return first.primary();
    }

    // ---- a transaction of one machine

    private void onShipped(ByteBuffer answer) {
        NodeVerdict verdict = NodeMessageDescriptor.verdict(answer);
        if (verdict == NodeVerdict.UNDECIDED) {
            told = Coordinator.Told.UNKNOWN; // a replica breaks the protocol: not over before the next epoch
            return;
        }
        node.transactions().over(id);
        if (verdict == NodeVerdict.DONE) {
            told = Coordinator.Told.COMMITTED;
        } else {
            abort(NodeMessageKind.SHIP + ": " + verdict);
        }
    }

    // ---- a transaction of several machines

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
            node.transactions().over(id);
        }
    }

    private void abort(String why) {
        told = Coordinator.Told.ABORTED;
        reason = why;
    }

    @Override
    void onEpoch() {
        if (begun && told == Coordinator.Told.NOTHING) {
            if (written.isEmpty()) {
                abort("an epoch has begun");
                node.transactions().over(id); // nobody has a record of it
            }
        }
    }

    private void onRecovered(Coordinator.Told outcome) {
        if (told == Coordinator.Told.NOTHING) {
            told = outcome;
            reason = "an epoch has begun";
        }
    }
}
