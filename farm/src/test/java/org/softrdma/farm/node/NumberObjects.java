package org.softrdma.farm.node;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;

/** Objects of one number, in transactions. */
final class NumberObjects {
    static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + Long.BYTES;
    static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;

    private NumberObjects() {}

    /** Makes one with a zero, in a region of a machine. */
    static long make(FarmNode node) {
        return Objects.requireNonNull(
                committed(node.transact(1, transaction -> transaction.allocate(LENGTH, FarmAddress.NONE))));
    }

    /** What a transaction returned, which must have committed. */
    static <T> @Nullable T committed(TransactionOutcome<T> outcome) {
        if (outcome instanceof TransactionOutcome.Committed<T> committed) {
            return committed.value();
        }
        throw new AssertionError(outcome);
    }

    static long value(FarmTransaction transaction, long address) {
        return transaction.read(address, LENGTH).getLong(VALUE);
    }

    static void add(FarmTransaction transaction, long address, long amount) {
        long before = value(transaction, address);
        transaction.write(address).putLong(VALUE, before + amount);
    }
}
