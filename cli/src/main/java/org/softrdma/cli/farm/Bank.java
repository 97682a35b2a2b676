package org.softrdma.cli.farm;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.FarmTransaction;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.farm.node.TransactionOutcome;

/**
 * Accounts as objects. A transfer moves money between two of four that belong together, and counts itself in an object of
 * whoever makes it, all in one transaction: so the sum of the four stays the same at any moment, and what was told to be
 * done can be counted. One thread.
 */
final class Bank {
    private static final int VALUE_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;
    /** Header and payload of an account. */
    static final int LENGTH = VALUE_OFFSET + Long.BYTES;

    private static final int ATTEMPTS = 100;
    /** Accounts between which money is moved. */
    private static final int GROUP = 4;

    private static final int MOST_AMOUNT = 10;
    /** What each account has at the beginning. */
    static final long BALANCE = 1000;

    private final FarmNode node;

    Bank(FarmNode node) {
        this.node = node;
    }

    /** New accounts. */
    List<Long> openGroups(int count) {
        return open(count * GROUP, BALANCE);
    }

    /**
     * New objects, on all regions by turns.
     *
     * @param count how many
     * @param value of each
     * @return their addresses
     */
    List<Long> open(int count, long value) {
        List<Integer> regions = List.copyOf(node.configuration().regions().keySet());
        List<Long> addresses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long near = FarmAddress.of(regions.get(i % regions.size()), 0);
            addresses.add(committed(node.transact(ATTEMPTS, transaction -> {
                long address = transaction.allocate(LENGTH, near);
                transaction.write(address).putLong(VALUE_OFFSET, value);
                return address;
            })));
        }
        return addresses;
    }

    private static long committed(TransactionOutcome<Long> outcome) {
        if (outcome instanceof TransactionOutcome.Committed<Long>(Long value) && value != null) {
            return value;
        }
        throw new IllegalStateException("expected to be told committed, was told " + outcome);
    }

    /** Accounts that belong together. */
    static List<List<Long>> groups(List<Long> accounts) {
        List<List<Long>> groups = new ArrayList<>();
        for (int i = 0; i < accounts.size(); i += GROUP) {
            groups.add(accounts.subList(i, i + GROUP));
        }
        return groups;
    }

    /** The sum of objects at one moment; empty if they were changed all the time, or an epoch came. */
    OptionalLong sum(List<Long> addresses) {
        TransactionOutcome<Long> outcome = node.transact(ATTEMPTS, transaction -> {
            long sum = 0;
            for (long address : addresses) {
                sum += transaction.read(address, LENGTH).getLong(VALUE_OFFSET);
            }
            return sum;
        });
        return told(outcome);
    }

    /**
     * Moves an amount from one account to another.
     *
     * @param group accounts that belong together
     * @param counter counts what one teller has done
     * @param random draws which, and how much
     * @return what the counter says, if it was told that this is done
     */
    OptionalLong transfer(List<Long> group, long counter, RandomGenerator random) {
        int from = random.nextInt(GROUP);
        int to = (from + 1 + random.nextInt(GROUP - 1)) % GROUP;
        int amount = 1 + random.nextInt(MOST_AMOUNT);
        TransactionBody<Long> move = move(group.get(from), group.get(to), amount);
        return told(node.transact(ATTEMPTS, transaction -> {
            Long ignored = move.run(transaction);
            return add(transaction, counter, 1);
        }));
    }

    /**
     * Moves an amount from one account to another, and counts nothing.
     *
     * @param from an account
     * @param to another one
     * @param amount which
     * @return the transaction's body, whose result is what the other one has then
     */
    static TransactionBody<Long> move(long from, long to, long amount) {
        return transaction -> {
            long ignored = add(transaction, from, -amount);
            return add(transaction, to, amount);
        };
    }

    private static long add(FarmTransaction transaction, long address, long amount) {
        long value = transaction.read(address, LENGTH).getLong(VALUE_OFFSET) + amount;
        ObjectImage image = transaction.write(address);
        image.putLong(VALUE_OFFSET, value);
        return value;
    }

    private static OptionalLong told(TransactionOutcome<Long> outcome) {
        return outcome instanceof TransactionOutcome.Committed<Long>(Long value) && value != null
                ? OptionalLong.of(value)
                : OptionalLong.empty();
    }
}
