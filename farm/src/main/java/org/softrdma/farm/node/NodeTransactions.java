package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.function.IntPredicate;
import org.softrdma.farm.membership.Member;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.transaction.Participant;
import org.softrdma.farm.transaction.ShippedFunctions;
import org.softrdma.farm.transaction.SingleMachineCommits;
import org.softrdma.farm.transaction.TxId;

/** A machine's part in transactions: its own, and those of others that need it. The node's thread. */
final class NodeTransactions implements ShippedFunctions.Machine {
    private final Member member;
    private final FarmNodeContext context;
    private final TransactionNumbers numbers = new TransactionNumbers();
    private final Participant participant;
    private final SingleMachineCommits commits;
    private final ShippedFunctions functions;

    /**
     * None.
     *
     * @param member its part in epochs
     * @param space its part of the address space
     * @param context of the node
     * @param sender of records
     */
    NodeTransactions(Member member, FarmSpace space, FarmNodeContext context, SingleMachineCommits.Sender sender) {
        this.member = member;
        this.context = context;
        participant = new Participant(space);
        commits = new SingleMachineCommits(space, participant, sender);
        functions = new ShippedFunctions(space, context.functions(), commits, this, context.longestMessage());
    }

    @Override
    public TxId begin() {
        return new TxId(member.epoch(), member.machine(), numbers.begin());
    }

    @Override
    public void over(TxId id) {
        numbers.over(id.number());
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

    /** Those of which everything is on this machine. */
    SingleMachineCommits commits() {
        return commits;
    }

    /** The header of a message says what is over. */
    void truncate(int machine, ByteBuffer request) {
        participant.truncate(machine, NodeMessageDescriptor.truncated(request));
        functions.truncate(machine, NodeMessageDescriptor.truncated(request));
    }

    /** A request of a kind that is a transaction's. */
    void onRequest(ByteBuffer request, Peers.AnswerHandler reply) {
        switch (NodeMessageDescriptor.kind(request)) {
            case SHIP -> commits.onShip(request, reply::onAnswer);
            case RUN -> functions.onRun(request, context.nanoClock().nanoTime(), reply::onAnswer);
            case CAPABILITY, ALLOCATE, PREPARE, VALIDATE, COMMIT_REPLICA, COMMIT_PRIMARY, ABORT, RECORD ->
                reply.onAnswer(participant.onMessage(request));
        }
    }

    /** Runs functions that were shipped here; returns how many. */
    int doWork(long nowNs) {
        return functions.doWork(nowNs);
    }

    /** An epoch was learnt: nobody waits for an answer of the older one any more. */
    void giveUp() {
        commits.onEpoch();
        functions.onEpoch();
    }

    /**
     * The configuration of that epoch has come into force.
     *
     * @param served which regions this machine has served until now
     */
    void onEpoch(IntPredicate served) {
        participant.onEpoch(served);
    }
}
