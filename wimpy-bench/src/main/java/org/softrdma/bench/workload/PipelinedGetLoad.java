package org.softrdma.bench.workload;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * GETs over TCP by memcached's protocols or redis' RESP, pipelined: a selector, a receive buffer per connection, answers taken
 * apart as they come, all requests that an answer allows in one write. Allocates nothing per GET, but for what TLS does.
 */
public final class PipelinedGetLoad implements GetLoad {
    private static final int INPUT_LENGTH = 256 * 1024;
    private static final int TIMEOUT_MS = 10_000;
    private static final int MAX_REQUEST_LENGTH = 300;

    private final String server;
    private final TcpCommands command;
    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();
    private final Map<MixPairs, byte[][]> requests = new HashMap<>();
    private final RandomKeys random = new RandomKeys();
    private final Histogram latencies = Latencies.histogram();
    private final Consumer<SelectionKey> handler = this::handle;
    private final byte[] requestStart;
    private final byte[] requestEnd;
    private final AnswerHead head;
    private MixPairs keys = MixPairs.keyedByLength(1, 0);
    private byte[][] keyRequests = {};
    private Arrivals arrivals = Arrivals.closed(0);
    private int window;
    private int nextToAsk;
    private long nowNs;
    private long gets;
    private long errors;
    private @Nullable IOException failure;

    /**
     * Connects.
     *
     * @param address port of the server
     * @param command how to ask
     * @param count connections
     * @param maxWindow the largest window
     */
    public PipelinedGetLoad(InetSocketAddress address, TcpCommands command, int count, int maxWindow) {
        this(address, command, count, maxWindow, null);
    }

    /**
     * Connects, in TLS if there is somebody to trust.
     *
     * @param address port of the server
     * @param command how to ask
     * @param count connections
     * @param maxWindow the largest window
     * @param tls whom to trust; null for connections without TLS
     */
    public PipelinedGetLoad(
            InetSocketAddress address, TcpCommands command, int count, int maxWindow, @Nullable SSLContext tls) {
        this.server = address.toString();
        this.command = command;
        requestStart = command.requestStart();
        requestEnd = command.requestEnd();
        head = command.head();
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new MeasurementException("no selector: " + e.getMessage(), e);
        }
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new Connection(new LoadChannel(address, TIMEOUT_MS, tls), maxWindow));
            }
        } catch (IOException e) {
            close();
            throw new MeasurementException("cannot connect to " + address + ": " + e.getMessage(), e);
        }
    }

    @Override
    public LoadOutcome run(MixPairs pairs, int maxOutstanding, Arrivals when) {
        keys = pairs;
        keyRequests = requests.computeIfAbsent(pairs, this::requestsOf);
        arrivals = when;
        window = maxOutstanding;
        latencies.reset();
        gets = 0;
        errors = 0;
        long startNs = System.nanoTime();
        nowNs = startNs;
        arrivals.start(startNs);
        try {
            askAll();
            while (!arrivals.isOver(nowNs)) {
                turn();
                askAll();
            }
            awaitAnswers();
        } catch (IOException e) {
            throw new MeasurementException(server + ": " + e.getMessage(), e);
        }
        return new LoadOutcome(gets, errors, "", System.nanoTime() - startNs, latencies);
    }

    /** Asks what is due where nothing has been answered: at the start, and at a given rate. Connections take turns. */
    private void askAll() throws IOException {
        for (int i = 0; i < connections.size() && arrivals.isDue(nowNs); i++) {
            Connection connection = connections.get(nextToAsk);
            nextToAsk = (nextToAsk + 1) % connections.size();
            connection.askWhatIsDue();
            connection.send();
        }
    }

    private void awaitAnswers() throws IOException {
        long deadlineNs = nowNs + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
        while (outstanding() > 0) {
            turn();
            if (nowNs - deadlineNs > 0) {
                throw new IOException("no answer within " + TIMEOUT_MS + " ms");
            }
        }
    }

    private byte[][] requestsOf(MixPairs pairs) {
        byte[][] all = new byte[pairs.size()][];
        for (int i = 0; i < all.length; i++) {
            all[i] = command.get(pairs.key(i));
        }
        return all;
    }

    private int outstanding() {
        int sum = 0;
        for (Connection connection : connections) {
            sum += connection.outstanding;
        }
        return sum;
    }

    /** Looks once, without sleeping: so does the load that READs. */
    private void turn() throws IOException {
        selector.selectNow(handler);
        if (failure != null) {
            throw failure;
        }
        nowNs = System.nanoTime();
    }

    private void handle(SelectionKey key) {
        try {
            ((Connection) key.attachment()).handle(key);
        } catch (IOException e) {
            failure = e;
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
            throw new MeasurementException("closing connections: " + e.getMessage(), e);
        }
    }

    /** One connection: where it is in the answers, and which GETs they are for. */
    private final class Connection {
        private final LoadChannel channel;
        private final SelectionKey key;
        private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT_LENGTH);
        private final MemorySegment inputSegment = MemorySegment.ofBuffer(input);
        private final ByteBuffer output;
        private final int[] asked;
        private final long[] askedNs;
        private final boolean[] lastOfRequest;
        private int first;
        private int outstanding;

        private boolean inValue;
        private boolean right;
        private long valueDone;
        private int trailerLeft;
        private boolean sent = true;

        Connection(LoadChannel channel, int maxWindow) throws IOException {
            this.channel = channel;
            asked = new int[maxWindow];
            askedNs = new long[maxWindow];
            lastOfRequest = new boolean[maxWindow];
            output = ByteBuffer.allocateDirect(maxWindow * MAX_REQUEST_LENGTH);
            key = channel.register(selector, this);
        }

        void handle(SelectionKey ready) throws IOException {
            if (ready.isWritable()) {
                send();
            }
            if (!ready.isReadable()) {
                return;
            }
            while (receive() > 0 && channel.mayHoldMore()) {
                // TLS hands over a record at a time
            }
            askWhatIsDue();
            send();
        }

        /** Reads once, and takes what is complete; the number of bytes. */
        private int receive() throws IOException {
            int count = channel.read(input);
            if (count < 0) {
                throw new IOException("the server closed a connection");
            }
            nowNs = System.nanoTime();
            input.flip();
            while (takeSome()) {
                // until an answer is not complete
            }
            if (input.hasRemaining()) {
                input.compact();
            } else {
                input.clear();
            }
            return count;
        }

        /** Takes what is before a value, a piece of it, or what follows it; false if that has not come yet. */
        private boolean takeSome() throws IOException {
            if (!inValue) {
                return takeHead();
            }
            long left = keys.valueLength() - valueDone;
            if (left > 0) {
                return takeValue((int) Math.min(left, input.remaining()));
            }
            int skipped = Math.min(trailerLeft, input.remaining());
            input.position(input.position() + skipped);
            trailerLeft -= skipped;
            if (trailerLeft > 0) {
                return false;
            }
            inValue = false;
            answered();
            return input.hasRemaining();
        }

        private boolean takeHead() throws IOException {
            int from = input.position();
            int length = head.take(input);
            if (length == AnswerHead.INCOMPLETE) {
                return false;
            }
            if (outstanding > 0 && length == AnswerHead.MISS) {
                missed();
                return input.hasRemaining();
            }
            if (outstanding == 0 || length != keys.valueLength()) {
                input.position(from);
                throw new IOException("answer to " + command.getLabel() + " is not a value of " + keys.valueLength()
                        + " bytes: "
                        + head.describe(input));
            }
            inValue = true;
            right = true;
            valueDone = 0;
            trailerLeft = command.trailerLength(lastOfRequest[first]);
            return true;
        }

        /** One value is not there; of many keys, all that were still to come. */
        private void missed() {
            do {
                errors++;
                first = (first + 1) % asked.length;
                outstanding--;
            } while (command == TcpCommands.MULTI_KEY && outstanding > 0);
        }

        private boolean takeValue(int length) {
            if (length == 0) {
                return false;
            }
            if (gets % SAMPLE_INTERVAL == 0) {
                right &= keys.matches(asked[first], valueDone, inputSegment, input.position(), length);
            }
            input.position(input.position() + length);
            valueDone += length;
            return true;
        }

        private void answered() {
            if (right) {
                gets++;
                latencies.recordValue(Math.min(nowNs - askedNs[first], Latencies.HIGHEST_NS));
            } else {
                errors++;
            }
            first = (first + 1) % asked.length;
            outstanding--;
        }

        /** One request per key; of many keys, when the last such request is answered. */
        private void askWhatIsDue() {
            if (outstanding == window
                    || !arrivals.isDue(nowNs)
                    || (command == TcpCommands.MULTI_KEY && outstanding > 0)) {
                return;
            }
            output.put(requestStart);
            int slot = 0;
            while (outstanding < window && arrivals.isDue(nowNs)) {
                int index = random.next(keys.size());
                slot = (first + outstanding) % asked.length;
                asked[slot] = index;
                askedNs[slot] = arrivals.take(nowNs);
                lastOfRequest[slot] = command != TcpCommands.MULTI_KEY;
                outstanding++;
                output.put(keyRequests[index]);
            }
            lastOfRequest[slot] = true;
            output.put(requestEnd);
        }

        private void send() throws IOException {
            if (output.position() == 0 && sent) {
                return;
            }
            output.flip();
            sent = channel.write(output);
            output.compact();
            key.interestOps(sent ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
    }
}
