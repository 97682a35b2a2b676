package org.softrdma.bench.workload;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/**
 * Connections of memcached's text protocol or redis' RESP, pipelined: one selector, which is asked and never waited
 * for; all requests that were started between two polls go out in one write. Allocates nothing per operation. The
 * thread that made them.
 */
public final class TextConnections implements StoreConnections {
    private final String server;
    private final Selector selector;
    private final List<TextConnection> connections = new ArrayList<>();
    private final Consumer<SelectionKey> receiver = this::receive;
    private @Nullable ResultHandler results;
    private @Nullable IOException failure;
    private int delivered;

    /**
     * Connects.
     *
     * @param address port of the server
     * @param commands how to ask
     * @param count connections
     * @param window most operations outstanding on each
     * @param maxValueLength bytes of the longest value
     */
    public TextConnections(InetSocketAddress address, TcpCommands commands, int count, int window, int maxValueLength) {
        server = address.toString();
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new MeasurementException("no selector: " + e.getMessage(), e);
        }
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new TextConnection(address, selector, commands, window, maxValueLength));
            }
        } catch (IOException e) {
            close();
            throw new MeasurementException("cannot connect to " + address + ": " + e.getMessage(), e);
        }
    }

    @Override
    public int count() {
        return connections.size();
    }

    @Override
    public boolean startGet(int connection, byte[] key, long tag) {
        return connections.get(connection).startGet(key, tag);
    }

    @Override
    public boolean startPut(int connection, byte[] key, MemorySegment value, long tag) {
        return connections.get(connection).startPut(key, value, tag);
    }

    @Override
    public int poll(ResultHandler handler) {
        results = handler;
        delivered = 0;
        try {
            for (int i = 0; i < connections.size(); i++) {
                connections.get(i).send();
            }
            int ignored = selector.selectNow(receiver);
        } catch (IOException e) {
            failure = e;
        }
        if (failure != null) {
            throw new MeasurementException(server + ": " + failure.getMessage(), failure);
        }
        return delivered;
    }

    private void receive(SelectionKey ready) {
        ResultHandler handler = results;
        try {
            if (handler != null) {
                delivered += ((TextConnection) ready.attachment()).receive(handler);
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    /** Requests count as SENDs. */
    @Override
    public StoreCounters counters() {
        StoreCounters counters = new StoreCounters();
        connections.forEach(connection -> counters.add(StoreCounter.SENDS, connection.requests()));
        return counters;
    }

    @Override
    public void close() {
        try {
            for (TextConnection connection : connections) {
                connection.close();
            }
            selector.close();
        } catch (IOException e) {
            throw new MeasurementException("closing connections: " + e.getMessage(), e);
        }
    }
}
