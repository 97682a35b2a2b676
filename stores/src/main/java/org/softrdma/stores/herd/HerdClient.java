package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.ReconnectBackoff;
import org.softrdma.stores.herd.HerdOperation.Phase;
import org.softrdma.stores.herd.transport.HerdChannel;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.HerdReplyHandler;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequest;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.VerbsException;

/**
 * A client of HERD. It puts operations into slots, hands on what is answered, watches the time, WRITEs again what has no
 * answer, and connects again when the connection is gone: then it asks again, with the same numbers, if the server
 * remembers it; else GETs begin again, and nobody knows what became of changes. Owned by one thread.
 */
final class HerdClient implements StoreClient, HerdReplyHandler {
    private static final ResultHandler NO_HANDLER = (tag, outcome, memory, offset, length) -> {};

    private final StoreClientContext context;
    private final NanoClock clock;
    private final HerdRetries retries;
    private final StoreCounters counters = new StoreCounters();
    private final long name;
    private final HerdChannels channels;
    private final HerdOperations operations;
    private final ReconnectBackoff backoff;
    private @Nullable HerdChannel channel;
    private HerdRequestForm form;
    private HerdSlots slots;
    private ResultHandler handler = NO_HANDLER;
    private long boot;
    private int session;
    private int outstanding;
    private int unsent;
    private int delivered;
    private long lastOrder;
    private long nextDueNs = Long.MAX_VALUE;
    private boolean closed;

    /** Connects. */
    HerdClient(StoreClientContext context, Supplier<HerdChannels> transport) {
        if (context.servers().size() != 1) {
            throw new IllegalArgumentException(context.servers() + ": expected one server");
        }
        this.context = context;
        clock = context.nanoClock();
        retries = HerdRetries.of(context);
        name = context.random().nextLong();
        operations = new HerdOperations(context);
        backoff = ReconnectBackoff.doubled(clock);
        HerdChannels opened = null;
        try {
            opened = transport.get();
            channels = opened;
            HerdChannel first = connected(opened);
            HerdWelcome welcome = first.welcome();
            boot = welcome.boot();
            session = welcome.session();
            form = form(welcome);
            slots = newSlots(first);
            channel = first;
        } catch (VerbsException e) {
            CloseHelper.closeAll(opened);
            throw new StoreException("no connection to " + context.servers().getFirst() + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(opened);
            throw e;
        }
    }

    private HerdChannel connected(HerdChannels by) {
        HerdChannel made = by.connect(context, counters, name);
        HerdWelcome told = made.welcome();
        boolean numbered = context.protocol() == Protocol.SAFE;
        if (told.maxKeyLength() != context.maxKeyLength()
                || told.maxValueLength() != context.maxValueLength()
                || told.numbered() != numbered) {
            made.close();
            throw new StoreException("the server has maxKeyLength=" + told.maxKeyLength() + ", maxValueLength="
                    + told.maxValueLength() + ", numbers=" + told.numbered() + ", the client "
                    + context.maxKeyLength() + ", " + context.maxValueLength() + ", " + numbered
                    + ": they must be the same");
        }
        return made;
    }

    private HerdRequestForm form(HerdWelcome welcome) {
        return HerdForms.of(context.protocol(), context.maxKeyLength(), context.maxValueLength(), welcome.seed());
    }

    private HerdSlots newSlots(HerdChannel now) {
        return new HerdSlots(
                now.welcome().shape(),
                context.window(),
                now.isReliable() && now.welcome().numbered());
    }

    // ---- beginning

    @Override
    public boolean startGet(byte[] key, long tag) {
        HerdOperation operation = start(HerdRequest.Operation.GET, key, tag);
        if (operation == null) {
            return false;
        }
        begin(operation);
        return true;
    }

    @Override
    public boolean startPut(byte[] key, MemorySegment value, long tag) {
        if (value.byteSize() > context.maxValueLength()) {
            throw new IllegalArgumentException(
                    "a value of " + value.byteSize() + " bytes: expected at most " + context.maxValueLength());
        }
        HerdOperation operation = start(HerdRequest.Operation.PUT, key, tag);
        if (operation == null) {
            return false;
        }
        operation.putValue(value);
        begin(operation);
        return true;
    }

    @Override
    public boolean startRemove(byte[] key, long tag) {
        HerdOperation operation = start(HerdRequest.Operation.REMOVE, key, tag);
        if (operation == null) {
            return false;
        }
        begin(operation);
        return true;
    }

    private @Nullable HerdOperation start(HerdRequest.Operation kind, byte[] key, long tag) {
        if (key.length == 0 || key.length > context.maxKeyLength()) {
            throw new IllegalArgumentException(
                    "a key of " + key.length + " bytes: expected 1 to " + context.maxKeyLength());
        }
        if (outstanding == context.window()) {
            return null;
        }
        HerdOperation operation = operations.free();
        outstanding++;
        operation.kind = kind;
        operation.tag = tag;
        operation.order = ++lastOrder;
        operation.deadlineNs = clock.nanoTime() + context.timeoutNs();
        dueAt(operation.deadlineNs);
        operation.putKey(key);
        operation.valueLength = 0;
        return operation;
    }

    private void begin(HerdOperation operation) {
        operation.phase = Phase.UNSENT;
        unsent++;
        HerdChannel now = channel;
        if (now != null) {
            place(operation);
            sendWaiting(now);
        }
    }

    /** Says which worker has the key. */
    private void place(HerdOperation operation) {
        long hash = form.hash(operation.memory(), operation.keyAt(), operation.keyLength);
        operation.worker = slots.shape().worker(hash);
    }

    private void sendWaiting(HerdChannel now) {
        while (unsent > 0 && now.hasRoom()) {
            HerdOperation next = operations.oldestUnsent(slots, now);
            if (next == null) {
                return;
            }
            unsent--;
            next.phase = Phase.SENT;
            slots.begin(slots.free(next.worker, now), next);
            write(next, now);
            counters.increment(StoreCounter.ROUND_TRIPS);
        }
    }

    private void write(HerdOperation operation, HerdChannel now) {
        int slot = operation.slot;
        long againNs = clock.nanoTime() + retries.pauseNs(slots.attempts(slot) + 1);
        slots.writes(operation, againNs);
        dueAt(againNs);
        int length = form.put(now.slots(), now.view(), slots.shape().end(slot), operation);
        now.write(slot, length);
    }

    private void dueAt(long ns) {
        nextDueNs = Math.min(nextDueNs, ns);
    }

    // ---- going on

    @Override
    public int poll(ResultHandler newHandler) {
        delivered = 0;
        handler = newHandler;
        if (channel == null && outstanding > 0) {
            connectAgain();
        }
        HerdChannel now = channel;
        if (now != null && !now.poll(this) && channel == now) {
            lose(now);
        }
        HerdChannel then = channel;
        if (then != null && unsent > 0) {
            sendWaiting(then);
        }
        if (nextDueNs != Long.MAX_VALUE && clock.nanoTime() - nextDueNs >= 0) {
            doWhatIsDue();
        }
        handler = NO_HANDLER;
        return delivered;
    }

    @Override
    public int await(long timeoutNs, ResultHandler newHandler) {
        long beganNs = clock.nanoTime();
        while (outstanding > 0) {
            int results = poll(newHandler);
            if (results > 0 || clock.nanoTime() - beganNs >= timeoutNs) {
                return results;
            }
            context.idleStrategy().idle();
        }
        return 0;
    }

    @Override
    public void onMessage(MemorySegment memory, long at, long length) {
        HerdChannel now = channel;
        if (now == null) {
            return;
        }
        if (!HerdReplyDescriptor.isValid(memory, at, length, slots.shape().slots())) {
            lose(now);
            return;
        }
        int slot = HerdReplyDescriptor.slot(memory, at);
        int number = HerdReplyDescriptor.number(memory, at);
        int attempt = HerdReplyDescriptor.attempt(memory, at);
        if (!slots.isAttempt(slot, number, attempt)) {
            lose(now);
            return;
        }
        int index = slots.answered(slot, number, attempt);
        if (index != HerdSlots.NOBODY) {
            HerdOperation operation = operations.get(index);
            deliver(
                    operation,
                    operation.outcome(HerdReplyDescriptor.status(memory, at)),
                    memory,
                    at + HerdReplyDescriptor.VALUE_OFFSET,
                    length - HerdReplyDescriptor.VALUE_OFFSET);
        }
    }

    private void deliver(HerdOperation operation, Outcome outcome, MemorySegment memory, long offset, long length) {
        operation.phase = Phase.DELIVERED;
        outstanding--;
        delivered++;
        try {
            handler.onResult(operation.tag, outcome, memory, offset, length);
        } finally {
            operation.phase = Phase.FREE;
        }
    }

    private void deliverLost(HerdOperation operation) {
        deliver(operation, Outcome.LOST, operation.memory(), 0, 0);
    }

    // ---- time

    private void doWhatIsDue() {
        long nowNs = clock.nanoTime();
        nextDueNs = Long.MAX_VALUE;
        for (int i = 0; i < operations.count(); i++) {
            HerdOperation operation = operations.get(i);
            if (operation.phase == Phase.FREE || operation.phase == Phase.DELIVERED) {
                continue;
            }
            if (nowNs - operation.deadlineNs >= 0) {
                giveUp(operation);
                counters.increment(StoreCounter.TIMEOUTS);
                deliverLost(operation);
                continue;
            }
            dueAt(operation.deadlineNs);
            HerdChannel now = channel;
            if (operation.phase == Phase.SENT && now != null) {
                writeAgainIfDue(operation, now, nowNs);
                dueAt(slots.againNs(operation.slot));
            }
        }
    }

    private void writeAgainIfDue(HerdOperation operation, HerdChannel now, long nowNs) {
        int slot = operation.slot;
        if (nowNs - slots.againNs(slot) < 0) {
            return;
        }
        if (slots.attempts(slot) < HerdRetries.MOST_ATTEMPTS
                && now.mayWriteAgain(slots.unanswered(slot))
                && now.hasRoom()
                && now.isFree(slot)) {
            counters.increment(StoreCounter.DUPLICATES);
            write(operation, now);
        } else {
            slots.againAt(slot, nowNs + retries.pauseNs(slots.attempts(slot)));
        }
    }

    private void giveUp(HerdOperation operation) {
        if (operation.phase == Phase.SENT) {
            slots.abandon(operation.slot);
        } else {
            unsent--;
        }
    }

    // ---- connections

    private void lose(HerdChannel now) {
        now.close();
        channel = null;
        slots.disconnected();
    }

    private void connectAgain() {
        if (!backoff.mayTry()) {
            return;
        }
        HerdChannel now;
        try {
            now = connected(channels);
        } catch (VerbsException | StoreException e) {
            backoff.failed();
            return;
        }
        counters.increment(StoreCounter.RECONNECTS);
        backoff.succeeded();
        channel = now;
        HerdWelcome told = now.welcome();
        boolean remembered = told.boot() == boot && (told.session() == session || !told.numbered());
        boot = told.boot();
        session = told.session();
        form = form(told);
        if (remembered) {
            askAgain(now);
        } else {
            slots = newSlots(now);
            beginAgain();
        }
        for (int i = 0; i < operations.count(); i++) {
            if (operations.get(i).phase == Phase.UNSENT) {
                place(operations.get(i));
            }
        }
        deliverUnknown(); // the handler may start operations
    }

    private void askAgain(HerdChannel now) {
        for (int i = 0; i < operations.count(); i++) {
            if (operations.get(i).phase == Phase.SENT) {
                counters.increment(StoreCounter.DUPLICATES);
                write(operations.get(i), now);
            }
        }
    }

    private void beginAgain() {
        for (int i = 0; i < operations.count(); i++) {
            HerdOperation operation = operations.get(i);
            if (operation.phase != Phase.SENT) {
                continue;
            }
            if (operation.kind.isChange()) {
                operation.phase = Phase.UNKNOWN; // it may have been made in the server's old life
            } else {
                operation.phase = Phase.UNSENT;
                unsent++;
            }
        }
    }

    private void deliverUnknown() {
        for (int i = 0; i < operations.count(); i++) {
            if (operations.get(i).phase == Phase.UNKNOWN) {
                deliverLost(operations.get(i));
            }
        }
    }

    // ---- the rest

    @Override
    public int outstanding() {
        return outstanding;
    }

    @Override
    public int window() {
        return context.window();
    }

    @Override
    public StoreCounters counters() {
        return counters;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            HerdChannel now = channel;
            channel = null;
            CloseHelper.closeAll(now, channels);
        }
    }
}
