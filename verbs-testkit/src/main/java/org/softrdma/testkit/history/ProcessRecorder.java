package org.softrdma.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the operations of one process. It may have any number of them under way at a time: a ticket names each. An operation
 * takes two readings of the clock and some stores into a page that is there already; a new page comes every few thousand
 * operations, and none is ever copied. One thread.
 *
 * @param <I> type of inputs
 * @param <O> type of outputs
 */
public final class ProcessRecorder<I, O> {
    private static final int PAGE_SHIFT = 12;
    private static final int PAGE_OPERATIONS = 1 << PAGE_SHIFT;

    private final String name;
    private final LongSupplier clock;
    private final List<Page<I, O>> pages = new ArrayList<>();
    private int count;

    /** Columns of operations. */
    private static final class Page<I, O> {
        private final @Nullable String[] keys = new @Nullable String[PAGE_OPERATIONS];
        private final @Nullable Object[] inputs = new @Nullable Object[PAGE_OPERATIONS];
        private final @Nullable Object[] outputs = new @Nullable Object[PAGE_OPERATIONS];
        private final long[] invoked = new long[PAGE_OPERATIONS];
        private final long[] returned = new long[PAGE_OPERATIONS];

        private void addTo(List<Operation<I, O>> operations, String process, int used) {
            for (int i = 0; i < used; i++) {
                String key = keys[i];
                if (key != null) {
                    operations.add(operation(process, key, i));
                }
            }
        }

        @SuppressWarnings({"unchecked", "NullAway"}) // the columns hold what the methods of the recorder were given
        private Operation<I, O> operation(String process, String key, int i) {
            return new Operation<>(process, key, (I) inputs[i], (O) outputs[i], invoked[i], returned[i]);
        }
    }

    ProcessRecorder(String name, LongSupplier clock) {
        this.name = name;
        this.clock = clock;
        pages.add(new Page<>());
    }

    /**
     * An operation begins: call it before anything is sent. Until it returns, its outcome is unknown.
     *
     * @param key what it is done to
     * @param input what is asked
     * @return its ticket
     */
    public int invoke(String key, I input) {
        int ticket = count++;
        if (ticket >> PAGE_SHIFT == pages.size()) {
            pages.add(new Page<>());
        }
        Page<I, O> page = pages.get(ticket >> PAGE_SHIFT);
        int at = ticket & (PAGE_OPERATIONS - 1);
        page.keys[at] = key;
        page.inputs[at] = input;
        page.returned[at] = Operation.NEVER;
        page.invoked[at] = clock.getAsLong();
        return ticket;
    }

    /**
     * An operation has been answered: call it once the whole answer is there, before anything else is done.
     *
     * @param ticket of the operation
     * @param output what was answered
     */
    public void returned(int ticket, O output) {
        long now = clock.getAsLong();
        Page<I, O> page = underWay(ticket);
        int at = ticket & (PAGE_OPERATIONS - 1);
        page.returned[at] = now;
        page.outputs[at] = output;
    }

    /**
     * Forgets an operation that cannot have had an effect, such as a lost read.
     *
     * @param ticket of the operation
     */
    public void forget(int ticket) {
        underWay(ticket).keys[ticket & (PAGE_OPERATIONS - 1)] = null;
    }

    private Page<I, O> underWay(int ticket) {
        if (ticket < 0 || ticket >= count) {
            throw new IllegalArgumentException(name + " has no ticket " + ticket + ", it has given " + count);
        }
        Page<I, O> page = pages.get(ticket >> PAGE_SHIFT);
        int at = ticket & (PAGE_OPERATIONS - 1);
        if (page.keys[at] == null || page.returned[at] != Operation.NEVER) {
            throw new IllegalStateException(name + ": the operation with ticket " + ticket
                    + " has returned or is forgotten; an operation ends once");
        }
        return page;
    }

    void addTo(List<Operation<I, O>> operations) {
        for (int page = 0; page < pages.size(); page++) {
            pages.get(page).addTo(operations, name, Math.min(PAGE_OPERATIONS, count - page * PAGE_OPERATIONS));
        }
    }
}
