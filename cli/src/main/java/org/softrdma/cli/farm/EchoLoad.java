package org.softrdma.cli.farm;

import java.util.List;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.PolledTransactions;
import org.softrdma.farm.node.TransactionOutcome;
import org.softrdma.farm.transaction.EchoFunction;

/** Functions that do nothing, at the primaries of objects by turns: a message and its answer each. The node's thread. */
final class EchoLoad extends WindowLoad implements PolledTransactions.OutcomeHandler {
    private final PolledTransactions transactions;
    private final List<Long> objects;
    private final byte[] argument;
    private int next;

    /**
     * A load.
     *
     * @param node of this process
     * @param objects addresses
     * @param window messages under way
     * @param bytes of an argument
     */
    EchoLoad(FarmNode node, List<Long> objects, int window, int bytes) {
        super(window);
        transactions = node.polledTransactions(window);
        this.objects = List.copyOf(objects);
        argument = new byte[bytes];
    }

    @Override
    void begin(int place) {
        next = (next + 1) % objects.size();
        boolean ignored = transactions.startShip(objects.get(next), EchoFunction.NUMBER, argument, place);
    }

    @Override
    int poll() {
        return transactions.poll(this);
    }

    @Override
    public void onOutcome(long tag, TransactionOutcome<?> outcome) {
        if (outcome instanceof TransactionOutcome.Committed<?>) {
            long ignored = ended((int) tag);
        } else {
            fail("a function that does nothing came to " + outcome, (int) tag);
        }
    }

    @Override
    public void onFailure(long tag, Throwable reason) {
        fail(String.valueOf(reason.getMessage()), (int) tag);
    }
}
