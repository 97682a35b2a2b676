package org.softrdma.farm.store;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.ClientListener;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A server: polls the rings of all clients, executes what has come as one batch, answers. Lookups never reach it. The
 * thread that calls {@link #doWork}.
 */
final class FarmServer implements StoreServer {
    private final FarmHost host;
    private final ClientListener listener;
    private final RequestBatch batch;
    private final List<FarmSession> sessions = new ArrayList<>();
    private int first;
    private boolean closed;

    FarmServer(VerbsDevice device, StoreServerContext context) {
        ProtectionDomain domain = device.allocateProtectionDomain();
        @Nullable FarmShards shards = null;
        FarmSettings settings;
        try {
            settings = FarmSettings.of(context, FarmShards.movesLinesWhole(device, domain));
            shards = new FarmShards(device, domain, settings, context.protocol() == Protocol.SAFE, context.steps());
            listener = new ClientListener(device, context.address(), this::accept);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(shards, domain);
            throw e;
        }
        long life = context.random().nextLong();
        host = new FarmHost(device, domain, context, settings, shards, life, new StoreCounters());
        batch = new RequestBatch(settings.shape(), shards);
    }

    @Override
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public String roleName() {
        return "farm server";
    }

    @Override
    public int doWork() {
        int work = listener.accept(sessions.size() < host.context().maxConnections());
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

    private void accept(ConnectionRequest request) {
        sessions.add(new FarmSession(host, request));
    }

    /** Requests that were executed by a later one of the same key. */
    long combined() {
        return batch.combined();
    }

    @Override
    public SpaceUse space() {
        return host.shards().space();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            sessions.forEach(FarmSession::close);
            sessions.clear();
            host.shards().close();
            host.domain().close();
        }
    }
}
