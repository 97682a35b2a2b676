package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Function;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.transaction.ShippedFunctions;
import org.softrdma.farm.transaction.TxId;

/**
 * Ships a function to the primary of an object. What an epoch interrupts is shipped again, under the same name, if the
 * primary is still the same: that knows whether it has run. The node's thread.
 */
final class FunctionTask<T> extends OutcomeTask {
    /** The result of a function. */
    static final Function<ByteBuffer, Long> RESULT = answer -> answer.getLong(NodeMessageDescriptor.RESULT_OFFSET);

    /** That, and behind it what else the function has told: little endian, from the start of the buffer. */
    static final Function<ByteBuffer, ByteBuffer> ALL = answer -> answer.slice(
                    NodeMessageDescriptor.RESULT_OFFSET, answer.limit() - NodeMessageDescriptor.RESULT_OFFSET)
            .order(ByteOrder.LITTLE_ENDIAN);

    private final NodeParts node;
    private final long address;
    private final int function;
    private final byte[] argument;
    private TxId id = new TxId(0, 0, 0);
    private long notBeforeNs = Long.MIN_VALUE;
    private int looks;
    private int ranAt = RegionPlacement.LOST;
    private boolean asked;
    private volatile boolean begun;
    private final Function<ByteBuffer, T> decoder;
    private TransactionOutcome<T> outcome = new TransactionOutcome.Unknown<>(id);
    private boolean over;

    FunctionTask(NodeParts node, long address, int function, byte[] argument, Function<ByteBuffer, T> decoder) {
        this.node = node;
        this.address = address;
        this.function = function;
        this.argument = argument.clone();
        this.decoder = decoder;
    }

    @Override
    TransactionOutcome<T> outcome() {
        return outcome;
    }

    @Override
    boolean isBegun() {
        return begun;
    }

    @Override
    boolean advance(long nowNs) {
        boolean waits = !begun && (nowNs < notBeforeNs || !node.transactions().mayBegin());
        if (over || asked || waits || !node.member().isRunning()) {
            return over;
        }
        int region = FarmAddress.region(address);
        int primary = node.space().configuration().primary(region);
        if (begun) {
            ask(primary);
            return over;
        }
        if (primary == RegionPlacement.LOST) {
            notBeforeNs = node.pauseUntilNs(nowNs, ++looks); // it may be so new that nobody has told of it yet
            boolean isKnown = node.space().configuration().regions().containsKey(region);
            return (isKnown || looks >= SpaceRead.MOST_LOOKS)
                    && fail(FarmAddress.regionText(region) + " is lost, or there is none");
        }
        id = node.transactions().name();
        ByteBuffer run = ShippedFunctions.run(id, address, function, argument);
        if (run.limit() > node.context().longestMessage()) {
            node.transactions().over(id);
            return fail("a message of " + run.limit() + " bytes > longestMessage="
                    + node.context().longestMessage() + ": ship fewer bytes");
        }
        ranAt = primary;
        outcome = new TransactionOutcome.Unknown<>(id);
        begun = true;
        ask(primary);
        return over;
    }

    private void ask(int primary) {
        if (primary == ranAt) {
            asked = true;
            node.request(primary, ShippedFunctions.run(id, address, function, argument), this::onAnswer);
        } else {
            over = true; // who knows whether it has run is gone
            node.transactions().over(id); // the records are the primary's own transaction's
        }
    }

    private void onAnswer(ByteBuffer answer) {
        node.transactions().over(id);
        NodeVerdict verdict = NodeMessageDescriptor.verdict(answer);
        over = true;
        if (verdict == NodeVerdict.DONE) {
            outcome = new TransactionOutcome.Committed<>(decoder.apply(answer));
        } else if (verdict == NodeVerdict.UNDECIDED) {
            outcome = new TransactionOutcome.Unknown<>(id);
        } else if (verdict == NodeVerdict.REFUSED) {
            boolean _ = fail("function " + function + " is unknown at the primary, or it threw");
        } else {
            outcome = new TransactionOutcome.Aborted<>("RUN: " + verdict);
        }
    }

    @Override
    void onEpoch() {
        asked = false;
    }
}
