package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.ring.RingEnd;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.client.PollingStoreClient;
import org.softrdma.stores.connection.ReconnectBackoff;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client. A GET is a {@link FarmLookup}; a change is a request in the server's ring and a reply in this one's. When the
 * connection is lost, changes that were sent are lost, and everything else goes on over the next one. A READ that is not
 * answered in time ends the connection, because its place in memory is the device's until then. The thread that made it.
 */
final class FarmClient extends PollingStoreClient {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
    private static final long SHORTEST_PAUSE_NS = 1_000;
    private static final int MOST_DOUBLINGS = 8;

    private final VerbsDevice device;
    private final FarmOperation[] operations;
    private final IntArrayList free;
    private final ReconnectBackoff backoff;
    private @Nullable FarmConnection connection;
    private long number;
    private int waiting;

    /**
     * A connected client.
     *
     * @throws StoreException if it cannot connect
     */
    FarmClient(VerbsDevice device, StoreClientContext context) {
        super(context);
        this.device = device;
        backoff = ReconnectBackoff.drawn(context.nanoClock(), context.random());
        operations = new FarmOperation[context.window()];
        free = new IntArrayList(operations.length, Integer.MIN_VALUE);
        for (int i = operations.length - 1; i >= 0; i--) {
            operations[i] = new FarmOperation(i, context.maxKeyLength(), context.maxValueLength());
            free.addInt(i);
        }
        try {
            connection = connect();
        } catch (VerbsException e) {
            throw new StoreException("cannot connect to " + context.servers().getFirst() + ": " + e.getMessage(), e);
        }
    }

    // ---- starting

    @Override
    protected boolean start(OperationKind kind, byte[] key, MemorySegment value, long tag) {
        boolean mayStart = mayStart(key, value.byteSize());
        checkInline(kind, key.length, value.byteSize());
        if (!mayStart) {
            return false;
        }
        long nowNs = clock().nanoTime();
        FarmOperation operation = operations[free.removeAt(free.size() - 1)];
        // Always memory of the heap: where copies are of two kinds, the compiler may allocate their segments.
        MemorySegment stored = kind == OperationKind.PUT ? value : NOTHING;
        operation.start(kind, key, stored, tag, nowNs + context().timeoutNs());
        started(operation.deadlineNs());
        waiting++;
        FarmConnection current = connection;
        if (current != null) {
            post(operation, current, nowNs);
        }
        return true;
    }

    private void checkInline(OperationKind kind, int key, long value) {
        FarmConnection current = connection;
        if (current != null && current.welcome().shape().inline()) {
            TableShape shape = current.welcome().shape();
            boolean isPut = kind == OperationKind.PUT;
            if (key != shape.keyLength() || (isPut && value != shape.valueLength())) {
                throw new IllegalArgumentException("key of " + key + " bytes, value of " + value
                        + ": pairs of this table are inline, and have exactly " + shape.keyLength() + " and "
                        + shape.valueLength());
            }
        }
    }

    private void post(FarmOperation operation, FarmConnection current, long nowNs) {
        if (operation.kind() == OperationKind.GET) {
            waiting--;
            operation.look(nowNs);
            operation.resumeNs(nowNs);
            due(operation.lookup().isReading() ? operation.deadlineNs() : nowNs);
        } else if (operation.send(current.rings(), number + operation.index())) {
            number += operations.length;
            waiting--;
        }
    }

    // ---- driving

    @Override
    public int poll(ResultHandler handler) {
        pollBegins();
        FarmConnection current = connected();
        if (current != null) {
            pollCompletions(current, handler);
            if (current == connection) {
                takeReplies(current, handler);
            }
            if (current == connection && current.isBroken()) {
                lose(handler);
            }
        }
        if (waiting > 0 || isDue()) {
            lookAfter(clock().nanoTime(), handler);
        }
        return delivered();
    }

    private void pollCompletions(FarmConnection current, ResultHandler handler) {
        int count = current.poll();
        for (int i = 0; i < count && current == connection; i++) {
            WorkCompletion completion = current.completions()[i];
            if (!completion.isSuccess()) {
                lose(handler);
            } else if (RingEnd.isOwn(completion.wrId())) {
                current.rings().completed(completion.wrId());
            } else {
                onRead(operations[(int) completion.wrId()], handler);
            }
        }
    }

    private void onRead(FarmOperation operation, ResultHandler handler) {
        long nowNs = clock().nanoTime();
        FarmLookup lookup = operation.lookup();
        Outcome outcome = lookup.onRead(nowNs);
        if (outcome == Outcome.FOUND) {
            end(operation, outcome, handler, lookup.value(), lookup.valueOffset(), lookup.valueLength());
        } else if (outcome != null) {
            end(operation, outcome, handler);
        } else if (!lookup.isReading()) {
            int doublings = Math.min(MOST_DOUBLINGS, lookup.restarts());
            operation.resumeNs(nowNs + context().random().nextLong(SHORTEST_PAUSE_NS << doublings));
            due(operation.resumeNs());
        }
    }

    private void takeReplies(FarmConnection current, ResultHandler handler) {
        RingEnd rings = current.rings();
        while (current == connection && rings.poll() != RingEnd.NONE) {
            long requestNumber = FarmReplyDescriptor.number(rings.received(), rings.receivedAt());
            Outcome outcome = FarmReplyDescriptor.outcome(rings.received(), rings.receivedAt());
            rings.release();
            FarmOperation operation = operations[(int) Math.floorMod(requestNumber, (long) operations.length)];
            boolean expected = operation.state() == FarmOperation.State.SENT && operation.number() == requestNumber;
            if (expected && outcome != null) {
                end(operation, outcome, handler);
            }
        }
    }

    /** Posts what waits, goes on with what has paused, and ends what has taken too long. */
    private void lookAfter(long nowNs, ResultHandler handler) {
        nothingDue();
        boolean stuck = false;
        for (FarmOperation operation : operations) {
            if (operation.state() == FarmOperation.State.FREE) {
                continue;
            }
            if (nowNs - operation.deadlineNs() >= 0) {
                stuck |= isReading(operation);
                timeOut(operation, handler);
                continue;
            }
            due(operation.deadlineNs());
            FarmConnection current = connection;
            if (current != null && operation.state() == FarmOperation.State.WAITING) {
                post(operation, current, nowNs);
            }
            if (operation.state() == FarmOperation.State.LOOKING && !isReading(operation)) {
                resume(operation, nowNs);
            }
        }
        if (stuck) {
            lose(handler);
        }
    }

    private static boolean isReading(FarmOperation operation) {
        return operation.state() == FarmOperation.State.LOOKING
                && operation.lookup().isReading();
    }

    private void resume(FarmOperation operation, long nowNs) {
        if (nowNs - operation.resumeNs() >= 0) {
            operation.lookup().resume(nowNs);
        } else {
            due(operation.resumeNs());
        }
    }

    private void timeOut(FarmOperation operation, ResultHandler handler) {
        boolean paused = operation.state() == FarmOperation.State.LOOKING && !isReading(operation);
        counters().increment(StoreCounter.TIMEOUTS);
        end(operation, paused ? Outcome.GAVE_UP : Outcome.LOST, handler);
    }

    private void end(FarmOperation operation, Outcome outcome, ResultHandler handler) {
        end(operation, outcome, handler, NOTHING, 0, 0);
    }

    private void end(
            FarmOperation operation,
            Outcome outcome,
            ResultHandler handler,
            MemorySegment memory,
            int offset,
            int length) {
        if (operation.state() == FarmOperation.State.WAITING) {
            waiting--;
        }
        operation.state(FarmOperation.State.FREE);
        free.addInt(operation.index());
        deliver(handler, operation.tag(), outcome, memory, offset, length);
    }

    // ---- the connection

    private @Nullable FarmConnection connected() {
        if (connection == null && !isClosed()) {
            connection = reconnected(backoff, this::connect);
        }
        return connection;
    }

    private FarmConnection connect() {
        FarmConnection made = new FarmConnection(device, context(), counters());
        FarmView view = new FarmView(made, counters());
        for (FarmOperation operation : operations) {
            operation.connected(view);
        }
        return made;
    }

    /** Changes that were sent are lost; lookups begin again on the next connection. */
    private void lose(ResultHandler handler) {
        FarmConnection current = connection;
        if (current == null) {
            return;
        }
        connection = null;
        current.close();
        for (FarmOperation operation : operations) {
            if (operation.state() == FarmOperation.State.LOOKING) {
                operation.state(FarmOperation.State.WAITING);
                waiting++;
            } else if (operation.state() == FarmOperation.State.SENT) {
                end(operation, Outcome.LOST, handler);
            }
        }
    }

    @Override
    protected void release() {
        FarmConnection current = connection;
        connection = null;
        if (current != null) {
            current.close();
        }
    }
}
