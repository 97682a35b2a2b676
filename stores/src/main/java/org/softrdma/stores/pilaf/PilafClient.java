package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.client.PollingStoreClient;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.ReconnectBackoff;
import org.softrdma.stores.pilaf.PilafOperation.Phase;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of Pilaf, or of Pilaf-VO, whose GETs are messages. It begins operations, hands what has completed to {@link
 * PilafGet} and {@link PilafMessages}, watches the time, and connects again when the connection is gone: GETs begin
 * again, and changes are asked for again with the tickets that they have, if the server remembers the client; else
 * nobody knows what became of them. Owned by one thread.
 */
final class PilafClient extends PollingStoreClient {
    private static final int BATCH = 32;

    private final VerbsDevice device;
    private final boolean byMessages;
    private final long name;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final PilafBuffers buffers;
    private final PilafMessages messages;
    private final PilafGet get;
    private final PilafOperations operations;
    private final ReconnectBackoff backoff;
    private final OpenParts opened = new OpenParts();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private @Nullable PilafLink link;
    private long boot;
    private int session;
    private int unsent;

    PilafClient(VerbsDevice device, StoreClientContext context, boolean byMessages) {
        super(context);
        if (context.servers().size() != 1) {
            throw new IllegalArgumentException(context.servers() + ": expected one server");
        }
        StoreOptions ignored = new StoreOptions(context.options(), Map.of());
        this.device = device;
        this.byMessages = byMessages;
        name = context.random().nextLong();
        operations = new PilafOperations(context.window());
        backoff = ReconnectBackoff.doubled(context.nanoClock());
        try {
            domain = opened.add(device.allocateProtectionDomain());
            completions = opened.add(device.createCompletionQueue(PilafLink.completions(context.window())));
            buffers = opened.add(new PilafBuffers(device, domain, context, operations.count()));
            messages = new PilafMessages(buffers, context.window());
            get = new PilafGet(buffers, counters(), context.protocol() == Protocol.SAFE);
            PilafLink first = connected();
            link = first;
            boot = first.roots().boot();
            session = first.roots().session();
        } catch (RuntimeException e) {
            throw opened.closeAfter(e, "no connection to " + context.servers().getFirst());
        }
    }

    private PilafLink connected() {
        return new PilafLink(device, domain, completions, buffers, context(), counters(), name);
    }

    // ---- beginning

    @Override
    protected boolean start(OperationKind kind, byte[] key, MemorySegment value, long tag) {
        if (!mayStart(key, value.byteSize())) {
            return false;
        }
        PilafOperation operation =
                operations.start(tag, clock().nanoTime() + context().timeoutNs());
        started(operation.deadlineNs());
        operation.kind = kind;
        operation.keyLength = key.length;
        operation.valueLength = (int) value.byteSize();
        operation.handedOver = false;
        buffers.putKey(operation.index(), key);
        MemorySegment.copy(value, 0, buffers.segment(), buffers.valueAt(operation.index()), value.byteSize());
        begin(operation);
        return true;
    }

    private void begin(PilafOperation operation) {
        PilafLink now = link;
        if (now == null) {
            operation.phase = Phase.BEGUN;
        } else if (operation.kind == OperationKind.GET && !byMessages && !operation.handedOver) {
            get.begin(operation, now);
        } else {
            operation.phase = Phase.UNSENT;
            unsent++;
            sendOldest(now);
        }
    }

    /** Sends the request that has waited longest, if there is a slot for it. */
    private void sendOldest(PilafLink now) {
        int slot = messages.free(now.roots().window());
        if (slot == PilafMessages.NOBODY) {
            return;
        }
        PilafOperation oldest = operations.oldestUnsent();
        if (oldest != null) {
            unsent--;
            oldest.phase = Phase.SENT;
            oldest.messageSlot = slot;
            messages.fill(slot, oldest);
            messages.send(slot, now);
        }
    }

    // ---- going on

    @Override
    public int poll(ResultHandler handler) {
        pollBegins();
        if (link == null && outstanding() > 0) {
            connectAgain(handler);
        }
        PilafLink now = link;
        if (now != null) {
            int count = completions.poll(batch);
            for (int i = 0; i < count && link == now; i++) {
                take(batch[i], now, handler);
            }
        }
        if (isDue()) {
            expire(handler);
        }
        return delivered();
    }

    private void take(WorkCompletion completion, PilafLink now, ResultHandler handler) {
        if (!completion.isSuccess()) {
            disconnect(now);
            return;
        }
        int index = PilafLink.index(completion.wrId());
        switch (PilafLink.kind(completion.wrId())) {
            case PilafLink.READ -> onRead(operations.get(index), now, handler);
            case PilafLink.SEND -> {
                messages.sent(index);
                sendMore(now);
            }
            case PilafLink.RECEIVE -> onReply(index, completion.byteLength(), now, handler);
            default -> throw new IllegalStateException("unexpected completion: " + completion);
        }
    }

    private void onRead(PilafOperation operation, PilafLink now, ResultHandler handler) {
        switch (get.onRead(operation, now)) {
            case READING -> {
                // Another READ is on its way.
            }
            case FOUND -> {
                int extent = buffers.extentAt(operation.index());
                MemorySegment memory = buffers.segment();
                deliver(
                        operation,
                        handler,
                        Outcome.FOUND,
                        PilafExtentDescriptor.valueOffset(memory, extent),
                        PilafExtentDescriptor.valueLength(memory, extent));
            }
            case MISSING -> deliver(operation, handler, Outcome.MISSING, 0, 0);
            case ASK_SERVER -> {
                counters().increment(StoreCounter.HANDED_OVER);
                operation.handedOver = true;
                begin(operation);
            }
        }
    }

    private void onReply(int receive, long length, PilafLink now, ResultHandler handler) {
        MemorySegment memory = buffers.segment();
        int reply = buffers.replyAt(receive);
        if (!PilafReplyDescriptor.isValid(memory, reply, length)) {
            disconnect(now);
            return;
        }
        int index = messages.answered(PilafReplyDescriptor.ticket(memory, reply));
        if (index != PilafMessages.NOBODY) {
            PilafOperation operation = operations.get(index);
            deliver(
                    operation,
                    handler,
                    operation.outcome(PilafReplyDescriptor.status(memory, reply)),
                    reply + (long) PilafReplyDescriptor.VALUE_OFFSET,
                    PilafReplyDescriptor.valueLength(memory, reply));
        }
        if (link == now) {
            now.postReceive(receive);
            sendMore(now);
        }
    }

    private void sendMore(PilafLink now) {
        if (unsent > 0) {
            sendOldest(now);
        }
    }

    private void deliver(PilafOperation operation, ResultHandler handler, Outcome outcome, long offset, long length) {
        operations.delivering(operation);
        try {
            deliver(handler, operation.tag(), outcome, buffers.segment(), offset, length);
        } finally {
            operations.delivered(operation);
        }
    }

    // ---- time

    private void expire(ResultHandler handler) {
        long nowNs = clock().nanoTime();
        nothingDue();
        for (int i = 0; i < operations.count(); i++) {
            PilafOperation operation = operations.get(i);
            if (!operation.isStarted()) {
                continue;
            }
            if (nowNs - operation.deadlineNs() < 0) {
                due(operation.deadlineNs());
                continue;
            }
            giveUp(operation);
            counters().increment(StoreCounter.TIMEOUTS);
            deliver(operation, handler, Outcome.LOST, 0, 0);
        }
    }

    /** Nothing of the operation is left behind. */
    private void giveUp(PilafOperation operation) {
        PilafLink now = link;
        if (operation.isReading() && now != null) {
            disconnect(now); // a READ that takes so long: the peer's device is gone, and ours may write to the buffer
        } else if (operation.phase == Phase.SENT) {
            messages.abandon(operation.messageSlot, now != null);
        } else if (operation.phase == Phase.UNSENT) {
            unsent--;
        }
    }

    // ---- connections

    private void disconnect(PilafLink now) {
        now.close();
        link = null;
        messages.disconnected();
        unsent = 0;
        operations.disconnected();
    }

    private void connectAgain(ResultHandler handler) {
        PilafLink now = reconnected(backoff, this::connected);
        if (now == null) {
            return;
        }
        link = now;
        PilafRoots told = now.roots();
        boolean remembered = told.boot() == boot && told.session() == session;
        boot = told.boot();
        session = told.session();
        goOn(now, remembered, handler);
    }

    private void goOn(PilafLink now, boolean remembered, ResultHandler handler) {
        for (int slot = 0; slot < messages.slots(); slot++) {
            int index = messages.operation(slot);
            if (index == PilafMessages.NOBODY) {
                continue;
            }
            if (remembered && slot < now.roots().window()) {
                counters().increment(StoreCounter.DUPLICATES);
                messages.send(slot, now);
            } else {
                messages.drop(slot);
                PilafOperation operation = operations.get(index);
                // A change may have been made in the server's old life.
                operation.phase = operation.kind == OperationKind.GET ? Phase.BEGUN : Phase.UNKNOWN;
            }
        }
        for (int i = 0; i < operations.count(); i++) {
            PilafOperation operation = operations.get(i);
            if (operation.isIn(Phase.BEGUN)) {
                begin(operation);
            }
        }
        for (int i = 0; i < operations.count(); i++) {
            if (operations.get(i).isIn(Phase.UNKNOWN)) {
                deliver(operations.get(i), handler, Outcome.LOST, 0, 0); // the handler may start operations
            }
        }
    }

    @Override
    protected void release() {
        PilafLink now = link;
        link = null;
        CloseHelper.closeAll(now, opened);
    }
}
