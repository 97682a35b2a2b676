package org.softrdma.stores.client;

/**
 * The operations of a client: one more than its window, because one may be in its handler. Owned by the client's
 * thread.
 *
 * @param <O> an operation of the design
 */
public class ClientOperations<O extends ClientOperation> {
    private final O[] all;
    private long lastOrder;

    /**
     * Takes them.
     *
     * @param all the operations, by their index; not copied
     */
    protected ClientOperations(O[] all) {
        this.all = all;
    }

    /** How many there are, in use or not. */
    public final int count() {
        return all.length;
    }

    /** The one with an index. */
    public final O get(int index) {
        return all[index];
    }

    /**
     * Starts one that nobody uses.
     *
     * @throws IllegalStateException if there is none, because poll() was called from a handler
     */
    public final O start(long tag, long deadlineNs) {
        for (O operation : all) {
            if (operation.isFree()) {
                operation.start(++lastOrder, tag, deadlineNs);
                return operation;
            }
        }
        throw new IllegalStateException("poll() was called from a handler");
    }

    /** Its handler is about to be called; nobody else is told of it any more. */
    public final void delivering(O operation) {
        operation.delivering();
    }

    /** Its handler has returned, or thrown. */
    public final void delivered(O operation) {
        operation.free();
    }
}
