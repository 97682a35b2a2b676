package org.softrdma.stores.client;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.ReconnectBackoff;
import org.softrdma.verbs.VerbsException;

/**
 * A client without its design: what is outstanding, what was delivered, when something is due, and when to connect again.
 * A design adds what operations are, how {@link #poll} drives them, and the connection. Owned by one thread.
 */
public abstract class PollingStoreClient implements StoreClient {
    private final StoreClientContext context;
    private final NanoClock clock;
    private final int window;
    private final StoreCounters counters;
    private int outstanding;
    private int delivered;
    private boolean someDue;
    private long dueNs;
    private boolean closed;

    /**
     * Nothing is outstanding.
     *
     * @param context concluded
     */
    protected PollingStoreClient(StoreClientContext context) {
        this(context, new StoreCounters());
    }

    /**
     * Nothing is outstanding.
     *
     * @param context concluded
     * @param counters of this client, or of several on one thread
     */
    protected PollingStoreClient(StoreClientContext context, StoreCounters counters) {
        this.counters = counters;
        this.context = context;
        clock = context.nanoClock();
        window = context.window();
    }

    /** Its settings. */
    protected final StoreClientContext context() {
        return context;
    }

    /** The clock of its settings. */
    protected final NanoClock clock() {
        return clock;
    }

    // ---- starting

    @Override
    public final boolean startGet(byte[] key, long tag) {
        return start(OperationKind.GET, key, MemorySegment.NULL, tag);
    }

    @Override
    public final boolean startPut(byte[] key, MemorySegment value, long tag) {
        return start(OperationKind.PUT, key, value, tag);
    }

    @Override
    public final boolean startRemove(byte[] key, long tag) {
        return start(OperationKind.REMOVE, key, MemorySegment.NULL, tag);
    }

    /**
     * Starts an operation.
     *
     * @param value to be stored; empty for other kinds
     * @return false if the window is full
     */
    protected abstract boolean start(OperationKind kind, byte[] key, MemorySegment value, long tag);

    /**
     * Checks what is asked.
     *
     * @param valueLength bytes of the value; 0 if there is none
     * @return false if the window is full
     * @throws IllegalArgumentException if the key is empty, or key or value is too long
     */
    protected final boolean mayStart(byte[] key, long valueLength) {
        if (key.length == 0 || key.length > context.maxKeyLength()) {
            throw new IllegalArgumentException(
                    "a key of " + key.length + " bytes: expected 1 to " + context.maxKeyLength());
        }
        if (valueLength > context.maxValueLength()) {
            throw new IllegalArgumentException(
                    "a value of " + valueLength + " bytes: expected at most " + context.maxValueLength());
        }
        return outstanding < window;
    }

    /** There is one more operation, which ends at its time limit at the latest. */
    protected final void started(long deadlineNs) {
        outstanding++;
        due(deadlineNs);
    }

    // ---- time

    /** Something is to be done at that time, although nothing completes. */
    protected final void due(long ns) {
        if (!someDue || ns - dueNs < 0) {
            someDue = true;
            dueNs = ns;
        }
    }

    /** True once it is time to do what is due. */
    protected final boolean isDue() {
        return someDue && clock.nanoTime() - dueNs >= 0;
    }

    /** Nothing is due any more: whoever does what is due says what remains. */
    protected final void nothingDue() {
        someDue = false;
    }

    // ---- results

    /** Counts results from 0, for {@link #delivered}. */
    protected final void pollBegins() {
        delivered = 0;
    }

    /** Results since {@link #pollBegins}. */
    protected final int delivered() {
        return delivered;
    }

    /** Delivers the result of an operation, which is not outstanding any more. What the handler throws is thrown. */
    protected final void deliver(
            ResultHandler handler, long tag, Outcome outcome, MemorySegment memory, long offset, long length) {
        outstanding--;
        delivered++;
        handler.onResult(tag, outcome, memory, offset, length);
    }

    @Override
    public final int await(long timeoutNs, ResultHandler handler) {
        long beganNs = clock.nanoTime();
        int results = poll(handler);
        while (results == 0 && outstanding > 0 && clock.nanoTime() - beganNs < timeoutNs) {
            context.idleStrategy().idle();
            results = poll(handler);
        }
        return results;
    }

    // ---- connecting

    /**
     * Connects once more, unless the last attempt in vain was just before.
     *
     * @param backoff says so
     * @param connector connects
     * @return the connection, or null
     */
    protected final <C> @Nullable C reconnected(ReconnectBackoff backoff, Supplier<C> connector) {
        if (!backoff.mayTry()) {
            return null;
        }
        try {
            C connection = connector.get();
            backoff.succeeded();
            counters.increment(StoreCounter.RECONNECTS);
            return connection;
        } catch (VerbsException | StoreException e) {
            backoff.failed();
            return null;
        }
    }

    // ---- the rest

    @Override
    public final int outstanding() {
        return outstanding;
    }

    @Override
    public final int window() {
        return window;
    }

    @Override
    public final StoreCounters counters() {
        return counters;
    }

    /** True once {@link #close} was called. */
    protected final boolean isClosed() {
        return closed;
    }

    /** Ends its connections, and gives back what it has. Called once. */
    protected abstract void release();

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            release();
        }
    }
}
