package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;

/**
 * Commits transactions of which this machine is the primary of everything, for other machines and for itself. Neither
 * PREPARE nor VALIDATE is needed:
 *
 * <ol>
 *   <li>It compares what was read, and locks what is written so that readers are admitted.
 *   <li><b>RECORD</b> to each replica machine, with the writes of all regions: a record for each region would lose half of
 *       the transaction with one machine.
 *   <li>When all have it, it locks everything against readers, writes, and unlocks; then it answers.
 * </ol>
 *
 * <p>A replica that has yet to hear of a new region gets the RECORD again after a pause. One that refuses it breaks the
 * protocol: others may have it, so it can be neither committed nor aborted before the next epoch. No socket, no clock.
 * The node's thread.
 */
public final class SingleMachineCommits {
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final FarmSpace space;
    private final Participant participant;
    private final Sender sender;
    private final Map<TxId, Open> open = new HashMap<>();
    /** Replicas that were not ready, in the order in which they get their RECORDs again. */
    private final Deque<Unready> unready = new ArrayDeque<>();

    /** Sends messages. */
    @FunctionalInterface
    public interface Sender {
        /** Sends one; its answer comes to {@link SingleMachineCommits#onAnswer}. */
        void send(TxId id, int machine, ByteBuffer message);
    }

    private record Unready(TxId id, int machine, long untilNs) {}

    private static final class Open {
        private final ByteBuffer ship;
        private final Set<Integer> awaited;
        private Consumer<ByteBuffer> reply;
        private boolean isRefused;

        Open(ByteBuffer ship, Set<Integer> awaited, Consumer<ByteBuffer> reply) {
            this.ship = ship;
            this.awaited = awaited;
            this.reply = reply;
        }
    }

    /**
     * None.
     *
     * @param space of this machine
     * @param participant of this machine
     * @param sender of messages
     */
    public SingleMachineCommits(FarmSpace space, Participant participant, Sender sender) {
        this.space = space;
        this.participant = participant;
        this.sender = sender;
    }

    /**
     * The message that asks for it.
     *
     * @param id of the transaction
     * @param written what it writes
     * @param read what it only reads
     * @param truncated the transactions of its machine up to here are over
     */
    public static ByteBuffer ship(TxId id, List<WriteEntry> written, List<ObjectVersion> read, long truncated) {
        return TransactionMessages.ship(id, regions(written), written, read, truncated);
    }

    /** Bytes of that message. */
    static int lengthOf(List<WriteEntry> written, List<ObjectVersion> read) {
        return TransactionMessages.shipped(regions(written), written, read);
    }

    private static SortedSet<Integer> regions(List<WriteEntry> written) {
        SortedSet<Integer> regions = new TreeSet<>();
        written.forEach(entry -> regions.add(FarmAddress.region(entry.address())));
        return regions;
    }

    /**
     * A transaction.
     *
     * @param message SHIP; it may come twice
     * @param reply takes the answer, at once or later; never, if an epoch comes before it
     */
    public void onShip(ByteBuffer message, Consumer<ByteBuffer> reply) {
        WriteSet writes = TransactionMessages.isValid(message) ? TransactionMessages.writes(message) : WriteSet.NONE;
        Optional<List<ObjectVersion>> reads =
                writes.entries().isEmpty() ? Optional.empty() : TransactionMessages.reads(message, writes);
        if (reads.isEmpty()) {
            reply.accept(NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0));
            return;
        }
        TxId id = TransactionMessages.id(message);
        Open again = open.get(id);
        if (again != null) {
            again.reply = reply;
            answerIfRefused(again);
            return;
        }
        boolean committed = participant.isCommittedAlone(id);
        NodeVerdict verdict = committed ? NodeVerdict.DONE : participant.prepareAlone(id, writes, reads.get());
        if (committed || verdict != NodeVerdict.DONE) {
            reply.accept(NodeMessageDescriptor.answer(verdict, 0));
            return;
        }
        Open begun = new Open(message, replicas(writes), reply);
        open.put(id, begun);
        for (int machine : List.copyOf(begun.awaited)) {
            sender.send(id, machine, TransactionMessages.record(message));
        }
        if (begun.awaited.isEmpty()) {
            commit(id, begun);
        }
    }

    /** They are the same for all regions: the coordinator looks at that before it ships. */
    private Set<Integer> replicas(WriteSet writes) {
        Set<Integer> machines = new TreeSet<>();
        for (WriteEntry entry : writes.entries()) {
            int region = FarmAddress.region(entry.address());
            RegionPlacement placement = space.configuration().regions().get(region);
            if (placement != null) {
                machines.addAll(placement.machines());
                machines.remove(placement.primary());
            }
        }
        return machines;
    }

    /**
     * An answer to a RECORD.
     *
     * @param id of its transaction
     * @param machine which answers
     * @param answer of it
     * @param nowNs by this machine's clock
     */
    public void onAnswer(TxId id, int machine, ByteBuffer answer, long nowNs) {
        Open current = open.get(id);
        if (current == null) {
            return;
        }
        NodeVerdict verdict = NodeMessageDescriptor.verdict(answer);
        if (verdict == NodeVerdict.NOT_READY) { // it has yet to hear of a region that is new
            unready.add(new Unready(id, machine, nowNs + PAUSE_NS));
        } else if (verdict != NodeVerdict.DONE) {
            current.isRefused = true;
            answerIfRefused(current);
        } else if (current.awaited.remove(machine) && current.awaited.isEmpty()) {
            commit(id, current);
        }
    }

    private static void answerIfRefused(Open current) {
        if (current.isRefused) {
            current.reply.accept(NodeMessageDescriptor.answer(NodeVerdict.UNDECIDED, 0));
            current.reply = answer -> {};
        }
    }

    /**
     * Sends again what a replica was not ready for.
     *
     * @param nowNs by this machine's clock
     * @return how much
     */
    public int doWork(long nowNs) {
        int sent = 0;
        for (Unready next = unready.peek(); next != null && nowNs - next.untilNs >= 0; next = unready.peek()) {
            unready.remove();
            Open current = open.get(next.id);
            if (current != null) {
                sent++;
                sender.send(next.id, next.machine, TransactionMessages.record(current.ship));
            }
        }
        return sent;
    }

    private void commit(TxId id, Open current) {
        participant.commitAlone(id);
        open.remove(id);
        current.reply.accept(NodeMessageDescriptor.answer(NodeVerdict.DONE, 0));
    }

    /** An epoch was learnt: what is under way stays locked, and in doubt. */
    public void onEpoch() {
        open.clear();
        unready.clear();
    }
}
