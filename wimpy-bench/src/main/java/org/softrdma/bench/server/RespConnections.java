package org.softrdma.bench.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.LoadChannel;

/**
 * Connections to redis, each with one operation under way: some commands at once, and their replies (RESP, version 2). The thread
 * that made them.
 */
public final class RespConnections implements AutoCloseable {
    private static final int CONNECT_MS = 10_000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int INPUT = 1 << 18;
    private static final int OUTPUT = 1 << 14;

    private final InetSocketAddress server;
    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();
    private Histogram latencies = Latencies.histogram();

    /** What connections do. */
    public interface Operations {
        /**
         * Puts the commands of the next operation down.
         *
         * @param connection number of the connection
         * @param output gets them
         * @return how many they are
         */
        int begin(int connection, ByteBuffer output);

        /**
         * Takes the replies to it.
         *
         * @param connection number of the connection
         * @param replies all of them, one behind the other
         * @param latencyNs how long it took
         * @throws MeasurementException if they are not what they should be
         */
        void end(int connection, ByteBuffer replies, long latencyNs);
    }

    /** One operation at a time. */
    private final class Connection {
        private final int number = connections.size();
        private final LoadChannel channel;
        private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT);
        private final ByteBuffer output = ByteBuffer.allocateDirect(OUTPUT);
        private int commands;
        private long beganNs;

        Connection() throws IOException {
            channel = new LoadChannel(server, CONNECT_MS, null);
            SelectionKey ignored = channel.register(selector, this);
        }

        void begin(Operations operations) throws IOException {
            beganNs = System.nanoTime();
            output.clear();
            commands = operations.begin(number, output);
            output.flip();
            if (!channel.write(output)) {
                throw new IOException("a connection takes no " + output.limit() + " bytes");
            }
        }

        /** True if its operation is over. */
        boolean receive(Operations operations) throws IOException {
            if (channel.read(input) < 0) {
                throw new IOException("redis closed a connection");
            }
            ByteBuffer replies = input.duplicate().flip();
            int end = RespReply.end(replies, 0, commands);
            if (end < 0) {
                if (!input.hasRemaining()) {
                    throw new IOException("redis answered more than " + INPUT + " bytes");
                }
                return false;
            }
            input.clear();
            long latencyNs = Math.min(System.nanoTime() - beganNs, Latencies.HIGHEST_NS);
            latencies.recordValue(latencyNs);
            operations.end(number, replies, latencyNs);
            return true;
        }
    }

    /**
     * None yet.
     *
     * @param server redis
     */
    public RespConnections(InetSocketAddress server) {
        this.server = server;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new MeasurementException("no selector: " + e.getMessage(), e);
        }
    }

    /**
     * A command.
     *
     * @param output gets it
     * @param words its name and its arguments, in ASCII
     */
    public static void put(ByteBuffer output, String... words) {
        putAscii(output, "*" + words.length + "\r\n");
        for (String word : words) {
            putAscii(output, "$" + word.length() + "\r\n" + word + "\r\n");
        }
    }

    private static void putAscii(ByteBuffer output, String text) {
        output.put(text.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Runs operations.
     *
     * @param window how many are under way
     * @param ns how long
     * @param operations what they are
     * @throws MeasurementException if one fails
     */
    public StoreRun run(int window, long ns, Operations operations) {
        try {
            while (connections.size() < window) {
                connections.add(new Connection());
            }
            latencies = Latencies.histogram();
            long beganNs = System.nanoTime();
            for (Connection connection : connections.subList(0, window)) {
                connection.begin(operations);
            }
            int underWay = window;
            while (underWay > 0) {
                int ignored = selector.select(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
                long nowNs = System.nanoTime();
                if (nowNs - beganNs > ns + PATIENCE_NS) {
                    throw new MeasurementException(underWay + " operations of redis are not over");
                }
                for (SelectionKey selected : selector.selectedKeys()) {
                    if (selected.attachment() instanceof Connection connection && connection.receive(operations)) {
                        if (nowNs - beganNs < ns) {
                            connection.begin(operations);
                        } else {
                            underWay--;
                        }
                    }
                }
                selector.selectedKeys().clear();
            }
            return new StoreRun(System.nanoTime() - beganNs, latencies);
        } catch (IOException e) {
            throw new MeasurementException("redis: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try {
            for (Connection connection : connections) {
                connection.channel.close();
            }
            selector.close();
        } catch (IOException e) {
            throw new MeasurementException("closing a connection: " + e.getMessage(), e);
        }
    }
}
