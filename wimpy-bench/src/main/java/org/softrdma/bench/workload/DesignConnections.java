package org.softrdma.bench.workload;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.device.VerbsDevice;

/** Clients of a store of a paper, on one device. The thread that made them. */
public final class DesignConnections implements StoreConnections {
    private final VerbsDevice device;
    private final boolean ownsDevice;
    private final List<StoreClient> clients = new ArrayList<>();

    /** Makes a client. */
    @FunctionalInterface
    public interface Connector {
        /**
         * Connects.
         *
         * @param device of the client
         */
        StoreClient connect(VerbsDevice device);
    }

    /**
     * Connects so many clients.
     *
     * @param device of the clients
     * @param ownsDevice true if it is closed with them
     * @param count of the clients
     * @param connector makes one
     */
    public DesignConnections(VerbsDevice device, boolean ownsDevice, int count, Connector connector) {
        this.device = device;
        this.ownsDevice = ownsDevice;
        try {
            for (int i = 0; i < count; i++) {
                clients.add(connector.connect(device));
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    @Override
    public int count() {
        return clients.size();
    }

    @Override
    public boolean startGet(int connection, byte[] key, long tag) {
        return clients.get(connection).startGet(key, tag);
    }

    @Override
    public boolean startPut(int connection, byte[] key, MemorySegment value, long tag) {
        return clients.get(connection).startPut(key, value, tag);
    }

    @Override
    public int poll(ResultHandler handler) {
        int count = 0;
        for (int i = 0; i < clients.size(); i++) {
            count += clients.get(i).poll(handler);
        }
        return count;
    }

    @Override
    public StoreCounters counters() {
        StoreCounters sum = new StoreCounters();
        clients.forEach(client -> sum.add(client.counters()));
        return sum;
    }

    @Override
    public Map<String, Long> deviceCounters() {
        return device.counters();
    }

    @Override
    public void close() {
        for (int i = clients.size() - 1; i >= 0; i--) {
            clients.get(i).close();
        }
        clients.clear();
        if (ownsDevice) {
            device.close();
        }
    }
}
