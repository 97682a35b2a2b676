package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import org.agrona.collections.Int2ObjectHashMap;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.ClientListener;
import org.softrdma.stores.connection.ClientSessions;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The server of Pilaf: one thread polls for messages, makes the changes that they ask for, and answers (paper, section
 * 4). GETs do not come here, but those of Pilaf-VO and of clients that met too many conflicts. Owned by the thread of
 * {@link #doWork}.
 */
final class PilafServer implements StoreServer {
    private static final int BATCH = 64;

    private final VerbsDevice device;
    private final StoreServerContext context;
    private final StoreCounters counters = new StoreCounters();
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final PilafKeeper keeper;
    private final OpenParts opened = new OpenParts();
    private final ClientListener listener;
    private final long boot;
    private final ClientSessions<PilafSession> sessions;
    private final Int2ObjectHashMap<PilafConnection> connections = new Int2ObjectHashMap<>();
    private final PilafReplies replies = new PilafReplies();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private int lastSerial;
    private boolean closed;

    PilafServer(VerbsDevice device, StoreServerContext context) {
        this.device = device;
        this.context = context;
        PilafServerSettings settings = PilafServerSettings.of(context);
        int ignored = PilafConnection.memoryLength(context); // refused here, not at the first connection
        boot = context.random().nextLong();
        sessions = new ClientSessions<>(
                2 * context.maxConnections(), serial -> new PilafSession(serial, context.window()));
        try {
            domain = opened.add(device.allocateProtectionDomain());
            completions = opened.add(device.createCompletionQueue(
                    context.maxConnections() * PilafConnection.completions(context.window())));
            keeper = opened.add(new PilafKeeper(device, domain, context, settings, this::dropAll));
            listener = new ClientListener(device, context.address(), this::accept);
        } catch (RuntimeException e) {
            throw opened.closeAfter(e, "no server at " + context.address());
        }
    }

    @Override
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public String roleName() {
        return "pilaf-server";
    }

    @Override
    public SpaceUse space() {
        PilafTable table = keeper.table();
        return new SpaceUse(table.pairs(), table.dataBytes(), table.usedBytes(), keeper.registeredBytes());
    }

    StoreCounters counters() {
        return counters;
    }

    PilafKeeper keeper() {
        return keeper;
    }

    @Override
    public int doWork() {
        int work = listener.accept(connections.size() < context.maxConnections());
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            take(batch[i]);
        }
        keeper.commit();
        int sent = replies.send();
        counters.add(StoreCounter.SENDS, sent);
        return work + count;
    }

    // ---- connections

    private void accept(ConnectionRequest request) {
        int serial = ++lastSerial;
        connections.put(serial, new PilafConnection(serial, request, device, domain, completions, context));
    }

    private void drop(PilafConnection connection) {
        connections.remove(connection.serial());
        PilafSession session = connection.session();
        if (session != null) {
            session.connected(false, context.nanoClock().nanoTime());
        }
        connection.close();
    }

    private void dropAll() {
        for (PilafConnection connection : List.copyOf(connections.values())) {
            drop(connection);
        }
    }

    // ---- messages

    private void take(WorkCompletion completion) {
        PilafConnection connection = connections.get(PilafConnection.serial(completion.wrId()));
        if (connection == null) {
            return; // it was dropped in this round
        }
        int slot = PilafConnection.slot(completion.wrId());
        if (!completion.isSuccess()) {
            drop(connection);
        } else if (PilafConnection.isReply(completion.wrId())) {
            connection.replyDone(slot);
            while (connection.isOpen() && connection.isReady()) {
                int waiting = connection.waitingSlot();
                serve(connection, waiting, connection.takeWaiting());
            }
        } else if (connection.mustWait()) {
            connection.defer(slot, (int) completion.byteLength());
        } else {
            serve(connection, slot, (int) completion.byteLength());
        }
    }

    private void serve(PilafConnection connection, int slot, int length) {
        MemorySegment memory = connection.segment();
        int request = connection.requestAt(slot);
        boolean valid = PilafRequestDescriptor.isValid(
                memory, request, length, context.maxKeyLength(), context.maxValueLength());
        boolean first = connection.session() == null;
        if (!valid || first != (PilafRequestDescriptor.operation(memory, request) == PilafRequestDescriptor.HELLO)) {
            drop(connection);
            return;
        }
        int reply = connection.takeReply();
        int replyLength = first ? welcome(connection, request, reply) : answer(connection, request, reply);
        if (replyLength > 0) {
            connection.postReceive(slot);
            replies.add(connection, reply, replyLength);
        }
    }

    private int welcome(PilafConnection connection, int request, int reply) {
        MemorySegment memory = connection.segment();
        long client = PilafRequestDescriptor.helloClient(memory, request);
        for (PilafConnection other : List.copyOf(connections.values())) {
            if (other.session() != null && other.client() == client) {
                drop(other); // else a change that it holds still might be made behind a later one
            }
        }
        PilafSession session = sessions.of(client);
        session.connected(true, context.nanoClock().nanoTime());
        connection.isOf(client, session);
        int at = connection.replyAt(reply);
        PilafRoots roots = keeper.roots(boot, session.serial());
        PilafRootsDescriptor.put(memory, at + (long) PilafReplyDescriptor.VALUE_OFFSET, roots);
        PilafReplyDescriptor.putHeader(
                memory,
                at,
                PilafReplyDescriptor.DONE,
                PilafRootsDescriptor.LENGTH,
                PilafRequestDescriptor.ticket(memory, request));
        return PilafReplyDescriptor.VALUE_OFFSET + PilafRootsDescriptor.LENGTH;
    }

    /** Returns the length of the reply, or 0 if the connection is gone. */
    private int answer(PilafConnection connection, int request, int reply) {
        MemorySegment memory = connection.segment();
        if (PilafRequestDescriptor.operation(memory, request) == PilafRequestDescriptor.GET) {
            return get(connection, request, reply);
        }
        PilafSession session = connection.session();
        if (session == null) {
            throw new IllegalStateException("a change before HELLO");
        }
        long ticket = PilafRequestDescriptor.ticket(memory, request);
        switch (session.judge(ticket)) {
            case REFUSE -> {
                drop(connection);
                return 0;
            }
            case ANSWER -> counters.increment(StoreCounter.DUPLICATES);
            case MAKE -> {
                PilafKeeper.Change change = change(memory, request);
                if (change == PilafKeeper.Change.RESET) {
                    return 0; // the client asks again
                }
                session.made(ticket, status(change));
            }
        }
        PilafReplyDescriptor.putHeader(memory, connection.replyAt(reply), session.status(ticket), 0, ticket);
        return PilafReplyDescriptor.VALUE_OFFSET;
    }

    private PilafKeeper.Change change(MemorySegment memory, int request) {
        int keyLength = PilafRequestDescriptor.keyLength(memory, request);
        long key = request + (long) PilafRequestDescriptor.KEY_OFFSET;
        if (PilafRequestDescriptor.operation(memory, request) == PilafRequestDescriptor.REMOVE) {
            return keeper.remove(memory, key, keyLength);
        }
        return keeper.put(memory, key, keyLength, key + keyLength, PilafRequestDescriptor.valueLength(memory, request));
    }

    private static byte status(PilafKeeper.Change change) {
        return switch (change) {
            case DONE -> PilafReplyDescriptor.DONE;
            case MISSING -> PilafReplyDescriptor.MISSING;
            case FULL -> PilafReplyDescriptor.FULL;
            case RESET -> throw new IllegalArgumentException("a reset is no answer");
        };
    }

    private int get(PilafConnection connection, int request, int reply) {
        MemorySegment memory = connection.segment();
        PilafTable table = keeper.table();
        int slot = table.find(
                memory,
                request + (long) PilafRequestDescriptor.KEY_OFFSET,
                PilafRequestDescriptor.keyLength(memory, request));
        int at = connection.replyAt(reply);
        int length = 0;
        if (slot != PilafTable.NONE) {
            long extent = table.extent(slot);
            length = PilafExtentDescriptor.valueLength(table.extents(), extent);
            MemorySegment.copy(
                    table.extents(),
                    PilafExtentDescriptor.valueOffset(table.extents(), extent),
                    memory,
                    at + (long) PilafReplyDescriptor.VALUE_OFFSET,
                    length);
        }
        PilafReplyDescriptor.putHeader(
                memory,
                at,
                slot == PilafTable.NONE ? PilafReplyDescriptor.MISSING : PilafReplyDescriptor.DONE,
                length,
                PilafRequestDescriptor.ticket(memory, request));
        return PilafReplyDescriptor.VALUE_OFFSET + length;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            dropAll();
            opened.close();
        }
    }

    /** Ends as if the process were killed: what the log has not written is not written. */
    void abandon() {
        keeper.abandonLog();
        close();
    }
}
