package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.client.PollingStoreClient;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.ReconnectBackoff;
import org.softrdma.stores.herd.HerdOperation.Phase;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.HerdChannel;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.HerdReplyHandler;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdWelcome;

/**
 * A client of HERD. It puts operations into slots, hands on what is answered, watches the time, WRITEs again what has no
 * answer, and connects again when the connection is gone: then it asks again, with the same numbers, if the server
 * remembers it; else GETs begin again, and nobody knows what became of changes. Owned by one thread.
 */
final class HerdClient extends PollingStoreClient implements HerdReplyHandler {
    private static final ResultHandler NO_HANDLER = (tag, outcome, memory, offset, length) -> {};

    private final HerdVariant variant;
    private final HerdRetries retries;
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
    private int unsent;

    /**
     * Connects.
     *
     * @param context concluded
     * @param variant which design it is
     * @param server where it is
     * @param counters of this client, or of several
     * @param transport to that server
     */
    HerdClient(
            StoreClientContext context,
            HerdVariant variant,
            InetSocketAddress server,
            StoreCounters counters,
            Supplier<HerdChannels> transport) {
        super(context, counters);
        this.variant = variant;
        retries = HerdRetries.of(context);
        name = context.random().nextLong();
        operations = new HerdOperations(context);
        backoff = ReconnectBackoff.doubled(context.nanoClock());
        OpenParts opened = new OpenParts();
        try {
            channels = opened.add(transport.get());
            HerdChannel first = connected();
            HerdWelcome welcome = first.welcome();
            boot = welcome.boot();
            session = welcome.session();
            form = form(welcome);
            slots = newSlots(first);
            channel = first;
        } catch (RuntimeException e) {
            throw opened.closeAfter(e, "no connection to " + server);
        }
    }

    private HerdChannel connected() {
        StoreClientContext context = context();
        HerdChannel made = channels.connect(context, counters(), name);
        HerdWelcome told = made.welcome();
        boolean numbered = variant.protocol() == Protocol.SAFE;
        boolean written = variant.answers() == HerdAnswers.WRITTEN;
        if (told.maxKeyLength() != context.maxKeyLength()
                || told.maxValueLength() != context.maxValueLength()
                || told.numbered() != numbered
                || told.written() != written) {
            made.close();
            throw new StoreException("the server has maxKeyLength=" + told.maxKeyLength() + ", maxValueLength="
                    + told.maxValueLength() + ", numbers=" + told.numbered() + ", answers by WRITE=" + told.written()
                    + ", the client "
                    + context.maxKeyLength() + ", " + context.maxValueLength() + ", " + numbered + ", " + written
                    + ": they must be the same");
        }
        return made;
    }

    private HerdRequestForm form(HerdWelcome welcome) {
        return HerdForms.of(
                variant.protocol(), context().maxKeyLength(), context().maxValueLength(), welcome.seed());
    }

    private HerdSlots newSlots(HerdChannel now) {
        return new HerdSlots(
                now.welcome().shape(),
                window(),
                now.isReliable() && now.welcome().numbered());
    }

    // ---- beginning

    @Override
    protected boolean start(OperationKind kind, byte[] key, MemorySegment value, long tag) {
        if (!mayStart(key, value.byteSize())) {
            return false;
        }
        HerdOperation operation =
                operations.start(tag, clock().nanoTime() + context().timeoutNs());
        started(operation.deadlineNs());
        operation.kind = kind;
        operation.putKey(key);
        operation.putValue(value);
        begin(operation);
        return true;
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
            counters().increment(StoreCounter.ROUND_TRIPS);
        }
    }

    private void write(HerdOperation operation, HerdChannel now) {
        int slot = operation.slot;
        long againNs = clock().nanoTime() + retries.pauseNs(slots.attempts(slot) + 1);
        slots.writes(operation, againNs);
        due(againNs);
        int length = form.put(now.slots(), now.view(), slots.shape().end(slot), operation);
        now.write(slot, length);
    }

    // ---- going on

    @Override
    public int poll(ResultHandler newHandler) {
        return poll(newHandler, true);
    }

    /** True if operations wait for a connection. */
    boolean isDisconnected() {
        return channel == null && outstanding() > 0;
    }

    /**
     * As {@link #poll(ResultHandler)}.
     *
     * @param mayConnect false not to try to connect, which may take a while
     */
    int poll(ResultHandler newHandler, boolean mayConnect) {
        pollBegins();
        if (isClosed()) {
            return 0;
        }
        handler = newHandler;
        if (mayConnect && isDisconnected()) {
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
        if (isDue()) {
            doWhatIsDue();
        }
        handler = NO_HANDLER;
        return delivered();
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
        operations.delivering(operation);
        try {
            deliver(handler, operation.tag(), outcome, memory, offset, length);
        } finally {
            operations.delivered(operation);
        }
    }

    private void deliverLost(HerdOperation operation) {
        deliver(operation, Outcome.LOST, operation.memory(), 0, 0);
    }

    // ---- time

    private void doWhatIsDue() {
        long nowNs = clock().nanoTime();
        nothingDue();
        for (int i = 0; i < operations.count(); i++) {
            HerdOperation operation = operations.get(i);
            if (!operation.isStarted()) {
                continue;
            }
            if (nowNs - operation.deadlineNs() >= 0) {
                giveUp(operation);
                counters().increment(StoreCounter.TIMEOUTS);
                deliverLost(operation);
                continue;
            }
            due(operation.deadlineNs());
            HerdChannel now = channel;
            if (operation.isIn(Phase.SENT) && now != null) {
                writeAgainIfDue(operation, now, nowNs);
                due(slots.againNs(operation.slot));
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
            counters().increment(StoreCounter.DUPLICATES);
            write(operation, now);
        } else {
            slots.againAt(slot, nowNs + retries.pauseNs(slots.attempts(slot)));
        }
    }

    private void giveUp(HerdOperation operation) {
        if (operation.phase == Phase.SENT) {
            slots.abandon(operation.slot);
        } else if (operation.phase == Phase.UNSENT) {
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
        HerdChannel now = reconnected(backoff, this::connected);
        if (now == null) {
            return;
        }
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
            if (operations.get(i).isIn(Phase.UNSENT)) {
                place(operations.get(i));
            }
        }
        deliverUnknown(); // the handler may start operations
    }

    private void askAgain(HerdChannel now) {
        for (int i = 0; i < operations.count(); i++) {
            if (operations.get(i).isIn(Phase.SENT)) {
                counters().increment(StoreCounter.DUPLICATES);
                write(operations.get(i), now);
            }
        }
    }

    private void beginAgain() {
        for (int i = 0; i < operations.count(); i++) {
            HerdOperation operation = operations.get(i);
            if (!operation.isIn(Phase.SENT)) {
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
            if (operations.get(i).isIn(Phase.UNKNOWN)) {
                deliverLost(operations.get(i));
            }
        }
    }

    @Override
    protected void release() {
        HerdChannel now = channel;
        channel = null;
        CloseHelper.closeAll(now, channels);
    }
}
