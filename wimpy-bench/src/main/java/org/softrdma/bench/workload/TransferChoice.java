package org.softrdma.bench.workload;

import java.util.SplittableRandom;

/** Draws transfers between accounts: from one to another, evenly, and a small amount. One thread. */
public final class TransferChoice {
    private static final int MOST_AMOUNT = 10;

    private final SplittableRandom random;
    private final int accounts;
    private int from;
    private int to;
    private int amount;

    /**
     * None yet.
     *
     * @param accounts how many there are, at least two
     * @param seed decides which
     */
    public TransferChoice(int accounts, long seed) {
        this.accounts = accounts;
        random = new SplittableRandom(seed);
    }

    /** Draws the next. */
    public void next() {
        from = random.nextInt(accounts);
        to = (from + 1 + random.nextInt(accounts - 1)) % accounts;
        amount = 1 + random.nextInt(MOST_AMOUNT);
    }

    /** The account that has less afterwards. */
    public int from() {
        return from;
    }

    /** The account that has more afterwards. */
    public int to() {
        return to;
    }

    /** How much is moved. */
    public int amount() {
        return amount;
    }
}
