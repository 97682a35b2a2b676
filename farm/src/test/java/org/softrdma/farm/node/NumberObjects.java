package org.softrdma.farm.node;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.transaction.ShippedFunction;

/** Objects of one number, in transactions. */
final class NumberObjects {
    static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + Long.BYTES;
    static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;

    /** Functions: add the argument, return what it was; return what it is; write, and throw. */
    static final int ADD = 1;

    static final int GET = 2;
    static final int FAIL = 3;
    /** Adds one to a byte of it. */
    static final int ADD_AT = 4;

    static final Map<Integer, ShippedFunction> FUNCTIONS = Map.of(
            ADD,
            (objects, address, argument) -> {
                ObjectImage object = objects.write(address, LENGTH);
                long before = object.getLong(VALUE);
                object.putLong(VALUE, before + argument.get());
                return before;
            },
            GET,
            (objects, address, argument) -> objects.read(address, LENGTH).getLong(VALUE),
            ADD_AT,
            (objects, address, argument) -> {
                ObjectImage object = objects.write(address, LENGTH);
                long before = object.getLong(VALUE);
                object.putLong(VALUE, before + (1L << (8 * argument.get())));
                return before;
            },
            FAIL,
            (objects, address, argument) -> {
                objects.write(address, LENGTH).putLong(VALUE, -1);
                throw new IllegalArgumentException("it fails");
            });

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
