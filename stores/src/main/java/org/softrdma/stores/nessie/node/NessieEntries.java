package org.softrdma.stores.nessie.node;

import java.util.random.RandomGenerator;
import org.agrona.collections.IntArrayList;
import org.softrdma.stores.nessie.layout.NessieShape;

/**
 * Which entries of a data table are free. An entry is given to a worker under a new reference, is taken back by a
 * notice of that reference, rests for a time, and is free again. Entry 0 is never given: a reference is never 0.
 *
 * <p>In SAFE a reference has a generation above the number, which begins anywhere and is another one each time: so
 * nobody takes an entry for what it was before. As published only the rest protects who still follows an old word.
 *
 * <p>Owned by the node's thread.
 */
final class NessieEntries {
    private enum Use {
        FREE,
        GIVEN,
        RESTING
    }

    private final NessieShape shape;
    private final int[] generations;
    private final Use[] uses;
    private final int[] owners;
    private final int[] free;
    private int freeCount;
    private final int[] resting;
    private final long[] restingSinceNs;
    private int firstResting;
    private int restingCount;
    private final IntArrayList doubtful = new IntArrayList();

    /**
     * All of them free.
     *
     * @param random where generations begin
     */
    NessieEntries(NessieShape shape, RandomGenerator random) {
        this.shape = shape;
        int count = 1 << shape.logEntries();
        generations = new int[count];
        uses = new Use[count];
        owners = new int[count];
        free = new int[count];
        resting = new int[count];
        restingSinceNs = new long[count];
        for (int number = count - 1; number > 0; number--) {
            generations[number] = shape.safe() ? random.nextInt() : 0;
            uses[number] = Use.FREE;
            free[freeCount++] = number;
        }
        uses[0] = Use.RESTING;
    }

    /**
     * Gives an entry.
     *
     * @param owner a connection
     * @return its new reference; 0 if none is free
     */
    int give(int owner) {
        if (freeCount == 0) {
            return 0;
        }
        int number = free[--freeCount];
        if (shape.safe()) {
            generations[number]++;
        }
        uses[number] = Use.GIVEN;
        owners[number] = owner;
        return reference(number);
    }

    /** The reference under which an entry was given last. */
    int reference(int number) {
        return generations[number] << shape.logEntries() | number;
    }

    /**
     * Somebody says that no word names an entry any more. True unless that was known, or is of an earlier generation.
     */
    boolean takeBack(int reference, long nowNs) {
        int number = shape.number(reference);
        if (uses[number] != Use.GIVEN || reference(number) != reference) {
            return false;
        }
        uses[number] = Use.RESTING;
        int at = (firstResting + restingCount++) % resting.length;
        resting[at] = number;
        restingSinceNs[at] = nowNs;
        return true;
    }

    /** Those that have rested long enough are free. */
    int release(long nowNs) {
        int released = 0;
        while (restingCount > 0 && nowNs - restingSinceNs[firstResting] >= shape.reuseNs()) {
            int number = resting[firstResting];
            firstResting = (firstResting + 1) % resting.length;
            restingCount--;
            uses[number] = Use.FREE;
            free[freeCount++] = number;
            released++;
        }
        return released;
    }

    /** Whether an entry has been written under a reference. */
    @FunctionalInterface
    interface Written {
        /** True if it has. */
        boolean isWritten(int number, int reference);
    }

    /**
     * A connection has ended: what it was given and has not written is taken back, and what it has written is in
     * doubt.
     */
    void ended(int owner, Written written, long nowNs) {
        for (int number = 1; number < owners.length; number++) {
            if (owners[number] == owner) {
                owners[number] = 0;
                if (uses[number] == Use.GIVEN && !written.isWritten(number, reference(number))) {
                    boolean ignored = takeBack(reference(number), nowNs);
                } else if (uses[number] == Use.GIVEN && shape.safe()) {
                    doubtful.addInt(reference(number));
                }
            }
        }
    }

    /**
     * Takes an entry of which it is to be found out whether a word names it. It is in doubt again if the connection
     * ends.
     *
     * @param owner a connection, whose worker is to find out
     * @return its reference; 0 if there is none
     */
    int takeDoubtful(int owner) {
        while (!doubtful.isEmpty()) {
            int reference = doubtful.popInt();
            int number = shape.number(reference);
            if (uses[number] == Use.GIVEN && reference(number) == reference) {
                owners[number] = owner;
                return reference;
            }
        }
        return 0;
    }

    /** True if somebody has it. */
    boolean isGiven(int number) {
        return uses[number] == Use.GIVEN;
    }

    /** Entries that can be given now. */
    int freeCount() {
        return freeCount;
    }
}
