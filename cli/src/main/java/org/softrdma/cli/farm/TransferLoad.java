package org.softrdma.cli.farm;

import java.util.List;
import org.softrdma.bench.workload.TransferChoice;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.PolledTransactions;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.farm.node.TransactionOutcome;

/** Transfers between accounts; one that is aborted begins again. The node's thread. */
final class TransferLoad extends WindowLoad implements PolledTransactions.OutcomeHandler {
    private final PolledTransactions transactions;
    private final List<Long> accounts;
    private final TransferChoice choice;
    private final TransactionBody<?>[] bodies;

    /**
     * A load.
     *
     * @param node of this process
     * @param accounts their addresses
     * @param window transfers under way
     * @param seed decides which
     */
    TransferLoad(FarmNode node, List<Long> accounts, int window, long seed) {
        super(window);
        transactions = node.polledTransactions(window);
        this.accounts = List.copyOf(accounts);
        choice = new TransferChoice(accounts.size(), seed);
        bodies = new TransactionBody<?>[window];
    }

    @Override
    void begin(int place) {
        choice.next();
        bodies[place] = Bank.move(accounts.get(choice.from()), accounts.get(choice.to()), choice.amount());
        boolean ignored = transactions.start(bodies[place], place);
    }

    @Override
    int poll() {
        return transactions.poll(this);
    }

    @Override
    public void onOutcome(long tag, TransactionOutcome<?> outcome) {
        int place = (int) tag;
        if (outcome instanceof TransactionOutcome.Aborted<?>) {
            aborts();
            boolean ignored = transactions.start(bodies[place], place);
            return;
        }
        if (outcome instanceof TransactionOutcome.Unknown<?>) {
            loses();
        }
        long ignored = ended(place);
    }

    @Override
    public void onFailure(long tag, Throwable reason) {
        fail(String.valueOf(reason.getMessage()), (int) tag);
    }
}
