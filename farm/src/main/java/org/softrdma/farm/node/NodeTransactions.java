package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.softrdma.farm.membership.Member;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.transaction.Coordinator;
import org.softrdma.farm.transaction.Participant;
import org.softrdma.farm.transaction.ShippedFunctions;
import org.softrdma.farm.transaction.SingleMachineCommits;
import org.softrdma.farm.transaction.TransactionRecovery;
import org.softrdma.farm.transaction.TxId;

/** A machine's part in transactions: its own, and those of others that need it. The node's thread. */
final class NodeTransactions implements ShippedFunctions.Machine {
    private final Member member;
    private final FarmNodeContext context;
    private final TransactionNumbers numbers = new TransactionNumbers();
    private final Participant participant;
    private final SingleMachineCommits commits;
    private final ShippedFunctions functions;
    private final TransactionRecovery recovery;

    /**
     * None.
     *
     * @param member its part in epochs
     * @param space its part of the address space
     * @param context of the node
     * @param sender of messages
     */
    NodeTransactions(Member member, FarmSpace space, FarmNodeContext context, TransactionRecovery.Sender sender) {
        this.member = member;
        this.context = context;
        participant = new Participant(space);
        commits = new SingleMachineCommits(
                space,
                participant,
                (id, machine, message) -> sender.send(machine, message, answer -> onRecorded(id, machine, answer)));
        functions = new ShippedFunctions(space, context.functions(), commits, this, context.longestMessage());
        recovery = new TransactionRecovery(member.machine(), space, participant, sender);
    }

    private void onRecorded(TxId id, int machine, ByteBuffer answer) {
        commits.onAnswer(id, machine, answer, context.nanoClock().nanoTime());
    }

    @Override
    public boolean mayBegin() {
        return numbers.mayBegin();
    }

    /** Names the next function that this machine ships: no record has this name. */
    TxId name() {
        return new TxId(member.epoch(), member.machine(), numbers.begin());
    }

    @Override
    public TxId begin(Consumer<Coordinator.Told> onRecovered) {
        TxId id = name();
        recovery.begins(id, told -> {
            numbers.over(id.number());
            onRecovered.accept(told);
        });
        return id;
    }

    @Override
    public void over(TxId id) {
        numbers.over(id.number());
        recovery.over(id);
    }

    @Override
    public long truncated() {
        return numbers.truncated();
    }

    @Override
    public boolean mayAnswer() {
        return member.counts(member.epoch(), context.nanoClock().nanoTime());
    }

    /** Its part in those of other machines. */
    Participant participant() {
        return participant;
    }

    /** What epochs have interrupted. */
    TransactionRecovery recovery() {
        return recovery;
    }

    /** The header of a message says what is over. */
    void truncate(int machine, ByteBuffer request) {
        participant.truncate(machine, NodeMessageDescriptor.truncated(request));
        functions.truncate(machine, NodeMessageDescriptor.truncated(request));
    }

    /** A request of a kind that is a transaction's. */
    void onRequest(int machine, ByteBuffer request, Peers.AnswerHandler reply) {
        switch (NodeMessageDescriptor.kind(request)) {
            case SHIP -> commits.onShip(request, reply::onAnswer);
            case RUN -> functions.onRun(request, context.nanoClock().nanoTime(), reply::onAnswer);
            case CAPABILITY, ALLOCATE, PREPARE, VALIDATE, COMMIT_REPLICA, COMMIT_PRIMARY, ABORT, RECORD, COPY ->
                reply.onAnswer(participant.onMessage(request));
            case IN_DOUBT, DECIDE_REPLICA, DECIDE_PRIMARY, RECOVERED ->
                recovery.onMessage(machine, request, reply::onAnswer);
        }
    }

    /** Recovers what the epoch has interrupted, sends again, and runs functions that came; returns the amount of work. */
    int doWork(long nowNs) {
        return (member.isRunning() ? recovery.begin() : 0) + commits.doWork(nowNs) + functions.doWork(nowNs);
    }

    /** An epoch was learnt: nobody waits for an answer of the older one any more. */
    void giveUp() {
        commits.onEpoch();
        functions.onEpoch();
    }

    /** The space has the configuration of that epoch. */
    void onEpoch() {
        recovery.onEpoch();
    }
}
