package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.ring.RingBox;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A server: polls the rings of all clients, executes what has come as one batch, answers. Lookups never reach it. The
 * thread that calls {@link #doWork}.
 */
final class FarmServer implements StoreServer {
    private static final int BACKLOG = 64;

    private final VerbsDevice device;
    private final StoreServerContext context;
    private final FarmSettings settings;
    private final ProtectionDomain domain;
    private final FarmShards shards;
    private final Listener listener;
    private final RequestBatch batch;
    private final StoreCounters counters = new StoreCounters();
    private final List<FarmSession> sessions = new ArrayList<>();
    private final long life;
    private int first;
    private boolean closed;

    FarmServer(VerbsDevice device, StoreServerContext context) {
        this.device = device;
        this.context = context;
        // No device promises lines today: MemoryRegion.coherentUnit() is 8 at most, and 0 for memory like this.
        settings = FarmSettings.of(context, false);
        life = context.random().nextLong();
        domain = device.allocateProtectionDomain();
        @Nullable FarmShards made = null;
        try {
            made = new FarmShards(
                    device, domain, settings, context.protocol() == Protocol.SAFE, context.steps());
            listener = device.listen(context.address(), BACKLOG);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(made, domain);
            throw e;
        }
        shards = made;
        batch = new RequestBatch(settings.shape(), shards);
    }

    @Override
    public InetSocketAddress address() {
        return listener.localAddress();
    }

    @Override
    public String roleName() {
        return "farm server";
    }

    @Override
    public int doWork() {
        int work = accept();
        for (int i = 0; i < sessions.size(); i++) {
            work += sessions.get((first + i) % sessions.size()).poll(batch);
        }
        batch.execute();
        first = sessions.isEmpty() ? 0 : (first + 1) % sessions.size(); // a full batch must not starve anybody
        for (int i = sessions.size() - 1; i >= 0; i--) {
            if (sessions.get(i).isBroken()) {
                sessions.remove(i).close();
            }
        }
        return work;
    }

    private int accept() {
        Optional<ConnectionRequest> next = listener.next(0);
        if (next.isEmpty()) {
            return 0;
        }
        try (ConnectionRequest request = next.get()) {
            if (sessions.size() < context.maxConnections()) {
                sessions.add(new FarmSession(this, request));
            }
        } catch (VerbsException e) {
            return 1; // the peer is gone already, or there is no memory for it
        }
        return 1;
    }

    // ---- for sessions

    VerbsDevice device() {
        return device;
    }

    ProtectionDomain domain() {
        return domain;
    }

    Protocol protocol() {
        return context.protocol();
    }

    /** How messages are believed. */
    boolean proven() {
        return protocol() == Protocol.SAFE;
    }

    int window() {
        return context.window();
    }

    long nanoTime() {
        return context.nanoClock().nanoTime();
    }

    StoreCounters counters() {
        return counters;
    }

    /** Bytes of the ring for a client's requests. */
    int ringLength() {
        int longest = FarmRequestDescriptor.length(context.maxKeyLength(), context.maxValueLength());
        return RingBox.capacityFor(longest, context.window());
    }

    /** True if a request is of lengths that this table has. */
    boolean takes(MemorySegment message, long at) {
        int key = FarmRequestDescriptor.keyLength(message, at);
        int value = FarmRequestDescriptor.valueLength(message, at);
        boolean fits = key <= context.maxKeyLength() && value <= context.maxValueLength();
        boolean put = FarmRequestDescriptor.operation(message, at) == FarmRequestDescriptor.PUT;
        return fits
                && (!settings.shape().inline()
                        || (key == context.maxKeyLength() && (!put || value == context.maxValueLength())));
    }

    FarmWelcomeDescriptor.Welcome welcome(RingBox inbox) {
        return new FarmWelcomeDescriptor.Welcome(
                life,
                inbox.region().remote(),
                inbox.capacity(),
                context.maxKeyLength(),
                context.maxValueLength(),
                settings.shape(),
                shards.remote());
    }

    /** Requests that were executed by a later one of the same key. */
    long combined() {
        return batch.combined();
    }

    @Override
    public SpaceUse space() {
        return shards.space();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            sessions.forEach(FarmSession::close);
            sessions.clear();
            shards.close();
            domain.close();
        }
    }
}
