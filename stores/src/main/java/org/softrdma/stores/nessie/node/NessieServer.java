package org.softrdma.stores.nessie.node;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import org.agrona.collections.Int2ObjectHashMap;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.ClientListener;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;
import org.softrdma.stores.nessie.layout.NessieRoots;
import org.softrdma.stores.nessie.layout.NessieRootsDescriptor;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The application of a node: welcomes workers, gives them free entries, and takes notices. Operations go on while it
 * stands still, as long as workers have entries in stock. Owned by the thread of {@link #doWork}.
 */
public final class NessieServer implements StoreServer {
    private static final int BATCH = 64;
    private static final int NOTICES_PER_ROUND = 256;

    private final VerbsDevice device;
    private final StoreServerContext context;
    private final NessieServerSettings settings;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final NessieTables tables;
    private final NessieEntries entries;
    private final NessieRoots roots;
    private final OpenParts opened = new OpenParts();
    private final ClientListener listener;
    private final Int2ObjectHashMap<NessieConnection> connections = new Int2ObjectHashMap<>();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private int lastSerial;
    private int nextNotice;
    private boolean closed;

    /**
     * A node.
     *
     * @param device on which it is
     * @param context concluded
     * @throws StoreException if it cannot be made
     */
    public NessieServer(VerbsDevice device, StoreServerContext context) {
        this.device = device;
        this.context = context;
        settings = NessieServerSettings.of(context);
        entries = new NessieEntries(settings.shape(), context.random());
        try {
            domain = opened.add(device.allocateProtectionDomain());
            completions =
                    opened.add(device.createCompletionQueue(context.maxConnections() * NessieConnection.COMPLETIONS));
            tables = opened.add(new NessieTables(device, domain, settings.shape()));
            roots = tables.roots(settings.node(), context.random().nextLong());
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
        return "nessie-server";
    }

    /** Pairs are words of this node's index table; their entries may be at other nodes. */
    @Override
    public SpaceUse space() {
        long pairs = tables.wordsInUse();
        return new SpaceUse(pairs, dataBytes(), pairs * tables.bytesOfPair(), tables.registeredBytes());
    }

    private long dataBytes() {
        long bytes = 0;
        for (int number = 1; number < 1 << settings.shape().logEntries(); number++) {
            boolean used = entries.isGiven(number) && tables.isWritten(number, entries.reference(number));
            bytes += used ? tables.pairBytes(number) : 0;
        }
        return bytes;
    }

    NessieEntries entries() {
        return entries;
    }

    @Override
    public int doWork() {
        int work = listener.accept(connections.size() < context.maxConnections());
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            take(batch[i]);
        }
        return work
                + count
                + takeNotices()
                + entries.release(context.nanoClock().nanoTime());
    }

    // ---- entries

    private int takeNotices() {
        int size = 1 << settings.shape().logEntries();
        int taken = 0;
        for (int i = Math.min(size, NOTICES_PER_ROUND); i > 0; i--) {
            int reference = tables.takeNotice(nextNotice);
            if (reference != 0
                    && entries.takeBack(reference, context.nanoClock().nanoTime())) {
                taken++;
            }
            nextNotice = (nextNotice + 1) % size;
        }
        return taken;
    }

    // ---- connections

    private void accept(ConnectionRequest request) {
        int serial = ++lastSerial;
        connections.put(serial, new NessieConnection(serial, request, device, domain, completions));
    }

    private void drop(NessieConnection connection) {
        connections.remove(connection.serial());
        connection.close();
        entries.ended(
                connection.serial(), tables::isWritten, context.nanoClock().nanoTime());
    }

    // ---- messages

    private void take(WorkCompletion completion) {
        NessieConnection connection = connections.get(NessieConnection.serial(completion.wrId()));
        if (connection == null) {
            return; // it was dropped in this round
        }
        if (!completion.isSuccess()) {
            drop(connection);
        } else if (NessieConnection.isReply(completion.wrId())) {
            int waiting = connection.replyDone();
            if (waiting > 0) {
                serve(connection, waiting);
            }
        } else if (connection.isReplying()) {
            connection.defer((int) completion.byteLength());
        } else {
            serve(connection, (int) completion.byteLength());
        }
    }

    private void serve(NessieConnection connection, int length) {
        MemorySegment memory = connection.segment();
        int request = connection.requestAt();
        if (!NessieMessageDescriptor.isRequest(memory, request, length)) {
            drop(connection);
            return;
        }
        int reply = connection.replyAt();
        if (NessieMessageDescriptor.kind(memory, request) == NessieMessageDescriptor.HELLO) {
            NessieMessageDescriptor.put(memory, reply, NessieMessageDescriptor.HELLO, 0);
            NessieRootsDescriptor.put(memory, reply + (long) NessieMessageDescriptor.LENGTH, roots);
            connection.reply(NessieMessageDescriptor.LENGTH + NessieRootsDescriptor.LENGTH);
            return;
        }
        int given = 0;
        int wanted = Math.min(NessieMessageDescriptor.count(memory, request), NessieMessageDescriptor.MOST_GIVEN);
        while (given < wanted) {
            int reference = entries.give(connection.serial());
            if (reference == 0) {
                break;
            }
            NessieMessageDescriptor.putReference(memory, reply, given++, reference);
        }
        int doubtful = 0;
        while (doubtful < NessieMessageDescriptor.MOST_DOUBTFUL) {
            int reference = entries.takeDoubtful(connection.serial());
            if (reference == 0) {
                break;
            }
            NessieMessageDescriptor.putReference(memory, reply, given + doubtful++, reference);
        }
        NessieMessageDescriptor.put(memory, reply, NessieMessageDescriptor.RESTOCK, given, doubtful);
        connection.reply(NessieMessageDescriptor.LENGTH + (given + doubtful) * Integer.BYTES);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            List.copyOf(connections.values()).forEach(NessieConnection::close);
            connections.clear();
            opened.close();
        }
    }
}
