package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.client.PollingStoreClient;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.ReconnectBackoff;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;
import org.softrdma.stores.nessie.worker.NessieOperation.Phase;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A worker of Nessie: begins operations, hands what has completed to their machine, watches the time, keeps free
 * entries in stock, and connects again when a connection is gone: GETs begin again, and so do changes that nobody can
 * have seen; of the others nobody knows what became of them. Owned by one thread.
 */
public final class NessieClient extends PollingStoreClient {
    private static final int BATCH = 32;

    private final VerbsDevice device;
    private final NessieClientSettings settings;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final NessieBuffers buffers;
    private final NessieWork work;
    private final NessieMachine machine;
    private final NessieOperations operations;
    private final ReconnectBackoff backoff;
    private final OpenParts opened = new OpenParts();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private final long[] boots;
    private @Nullable NessieLinks links;

    /**
     * Connects to all nodes.
     *
     * @param device of the worker
     * @param context concluded
     * @throws StoreException if it cannot connect in time
     */
    public NessieClient(VerbsDevice device, StoreClientContext context) {
        super(context);
        this.device = device;
        settings = NessieClientSettings.of(context);
        backoff = ReconnectBackoff.doubled(context.nanoClock());
        int nodes = context.servers().size();
        boots = new long[nodes];
        int count = NessieOperations.count(context);
        try {
            domain = opened.add(device.allocateProtectionDomain());
            completions = opened.add(device.createCompletionQueue(nodes * NessieLink.completions(count)));
            NessieDataDescriptor data = new NessieDataDescriptor(context.maxKeyLength(), context.maxValueLength());
            buffers = opened.add(new NessieBuffers(device, domain, data, count, nodes));
            work = new NessieWork(buffers, counters(), settings, context.nanoClock(), context.random());
            machine = settings.safe() ? new NessieSafe(work) : new NessiePaper(work);
            operations = new NessieOperations(context, buffers);
            connected(connect());
        } catch (RuntimeException e) {
            throw opened.closeAfter(e, "no connection to " + context.servers());
        }
    }

    private NessieLinks connect() {
        return new NessieLinks(
                device,
                domain,
                completions,
                buffers,
                context(),
                counters(),
                NessieOperations.count(context()),
                settings.home());
    }

    private void connected(NessieLinks now) {
        links = now;
        work.connected(now);
        work.stock.clear();
        if (!settings.safe()) {
            operations.limit(now.shape().reuseNs() / 2); // paper, section 4.3.3
        }
        long[] told = new long[boots.length];
        Arrays.setAll(told, now::boot);
        if (!Arrays.equals(boots, told)) {
            work.cache.clear(); // names may come again in another life
            System.arraycopy(told, 0, boots, 0, boots.length);
        }
        restock(now);
    }

    private void restock(NessieLinks now) {
        int wanted = work.stock.wanted();
        if (wanted > 0) {
            now.restock(wanted);
        }
    }

    // ---- beginning

    @Override
    protected boolean start(OperationKind kind, byte[] key, MemorySegment value, long tag) {
        if (!mayStart(key, value.byteSize())) {
            return false;
        }
        NessieOperation operation = operations.start(kind, key, value, tag);
        started(operation.deadlineNs);
        NessieLinks now = links;
        if (now != null) {
            now.hash().slots(operation.hash, operation.slots);
            Outcome outcome = machine.begin(operation);
            if (outcome != null) {
                throw new IllegalStateException("an operation that begins has ended: " + outcome);
            }
            restock(now);
        }
        return true;
    }

    @Override
    public int poll(ResultHandler handler) {
        pollBegins();
        if (links == null && outstanding() > 0) {
            connectAgain();
        }
        NessieLinks now = links;
        if (now != null) {
            int count = completions.poll(batch);
            for (int i = 0; i < count && links == now; i++) {
                take(batch[i], now, handler);
            }
        }
        if (isDue()) {
            onTime(handler);
        }
        return delivered();
    }

    private void take(WorkCompletion completion, NessieLinks now, ResultHandler handler) {
        if (!completion.isSuccess()) {
            disconnect(now, handler);
            return;
        }
        switch (NessieLink.kind(completion.wrId())) {
            case NessieLink.OPERATION -> {
                NessieOperation operation = operations.get(NessieLink.index(completion.wrId()));
                if (--operation.outstanding == 0) {
                    goOn(operation, machine.resume(operation), handler);
                    if (links == now) {
                        restock(now);
                        check(handler);
                    }
                }
            }
            case NessieLink.RECEIVE -> onGiven(completion.byteLength(), now, handler);
            default -> {
                // A SEND: the reply tells more.
            }
        }
    }

    private void goOn(NessieOperation operation, @Nullable Outcome outcome, ResultHandler handler) {
        if (outcome != null) {
            deliver(operation, handler, outcome);
        } else {
            due(operation.dueNs());
        }
    }

    private void onGiven(long length, NessieLinks now, ResultHandler handler) {
        MemorySegment memory = buffers.segment();
        int reply = buffers.replyAt(now.home());
        if (!NessieMessageDescriptor.isReply(memory, reply, length, NessieMessageDescriptor.RESTOCK)) {
            disconnect(now, handler);
            return;
        }
        int count = NessieMessageDescriptor.count(memory, reply);
        for (int i = 0; i < count; i++) {
            work.stock.add(NessieMessageDescriptor.reference(memory, reply, i));
        }
        int doubtful = NessieMessageDescriptor.doubtful(memory, reply);
        for (int i = 0; i < doubtful; i++) {
            work.stock.addDoubtful(NessieMessageDescriptor.reference(memory, reply, count + i));
        }
        boolean dry = work.stock.isDry(count);
        now.postReceive();
        check(handler);
        for (int i = 0; i < operations.count(); i++) {
            NessieOperation operation = operations.get(i);
            if (operation.phase == Phase.STOCK && links == now) {
                resupply(operation, count > 0, dry, handler);
            }
        }
        if (links == now) {
            restock(now);
        }
    }

    /** An operation waits for an entry, and the node has answered. */
    private void resupply(NessieOperation operation, boolean supplied, boolean dry, ResultHandler handler) {
        if (supplied) {
            goOn(operation, machine.begin(operation), handler);
        } else if (dry && operation.exposed) {
            work.pause(operation); // what it has replaced is gone: it must not be refused now
            goOn(operation, null, handler);
        } else if (dry) {
            deliver(operation, handler, Outcome.FULL);
        }
    }

    /** The janitor looks at an entry, if there is one in doubt. */
    private void check(ResultHandler handler) {
        if (operations.isChecking()) {
            return;
        }
        int reference = work.stock.takeDoubtful();
        if (reference != 0) {
            NessieOperation operation = operations.startCheck(reference);
            due(operation.deadlineNs);
            goOn(operation, machine.begin(operation), handler);
        }
    }

    private void deliver(NessieOperation operation, ResultHandler handler, Outcome outcome) {
        if (operation.checks) {
            operation.phase = Phase.FREE;
            return;
        }
        operations.ended(operation);
        try {
            deliver(
                    handler,
                    operation.tag,
                    outcome,
                    operation.foundMemory,
                    operation.foundOffset,
                    operation.foundLength);
        } finally {
            operation.phase = Phase.FREE;
        }
    }

    /** Ends what has taken too long, and wakes what has paused. */
    private void onTime(ResultHandler handler) {
        long nowNs = clock().nanoTime();
        nothingDue();
        for (int i = 0; i < operations.count(); i++) {
            NessieOperation operation = operations.get(i);
            if (!NessieOperations.isWaitedFor(operation)) {
                continue;
            }
            if (nowNs - operation.deadlineNs >= 0) {
                expire(operation, handler);
                continue;
            }
            if (operation.phase == Phase.PAUSED && nowNs - operation.wakeNs >= 0) {
                goOn(operation, machine.begin(operation), handler);
            }
            due(operation.dueNs());
        }
    }

    private void expire(NessieOperation operation, ResultHandler handler) {
        NessieLinks now = links;
        boolean inUse = operation.isInBatch();
        if (now != null && !inUse && !operation.exposed && operation.ownReference != 0) {
            work.stock.add(operation.ownReference);
        }
        counters().increment(StoreCounter.TIMEOUTS);
        deliver(operation, handler, Outcome.LOST);
        if (now != null && inUse && links == now) {
            disconnect(
                    now, handler); // a request that takes so long: a device is gone, and ours may write to the buffer
        }
    }

    // ---- connections

    private void disconnect(NessieLinks now, ResultHandler handler) {
        now.close();
        links = null;
        work.connected(null);
        for (int i = 0; i < operations.count(); i++) {
            NessieOperation operation = operations.get(i);
            if (!NessieOperations.isWaitedFor(operation)) {
                continue;
            }
            if (operation.exposed || operation.checks) {
                deliver(operation, handler, Outcome.LOST);
            } else {
                operation.reset();
                operation.phase = Phase.BEGUN;
            }
        }
    }

    private void connectAgain() {
        NessieLinks now = reconnected(backoff, this::connect);
        if (now == null) {
            return;
        }
        connected(now);
        for (int i = 0; i < operations.count(); i++) {
            NessieOperation operation = operations.get(i);
            if (operation.phase == Phase.BEGUN) {
                now.hash().slots(operation.hash, operation.slots);
                Outcome ignored = machine.begin(operation);
            }
        }
    }

    @Override
    protected void release() {
        NessieLinks now = links;
        links = null;
        CloseHelper.closeAll(now, opened);
    }
}
