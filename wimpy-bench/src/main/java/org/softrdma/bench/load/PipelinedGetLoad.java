package org.softrdma.bench.load;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * GETs over TCP by memcached's text protocol or redis' RESP, pipelined: a selector, a receive buffer per connection, answers
 * taken apart as they come, all requests that an answer allows in one write. Allocates nothing per GET.
 */
public final class PipelinedGetLoad implements GetLoad {
    private static final int INPUT_LENGTH = 256 * 1024;
    private static final int TIMEOUT_MS = 10_000;
    private static final int MAX_REQUEST_LENGTH = 300;

    private final String server;
    private final GetCommand command;
    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();
    private final Map<KeySpace, byte[][]> requests = new HashMap<>();
    private final RandomKeys random = new RandomKeys();
    private final Histogram latencies = Latencies.histogram();
    private final Consumer<SelectionKey> handler = this::handle;
    private final byte[] requestStart;
    private final byte[] requestEnd;
    private final byte[] valueStart;
    private final byte[] miss;
    private KeySpace keys = new KeySpace(0, 1);
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
    public PipelinedGetLoad(InetSocketAddress address, GetCommand command, int count, int maxWindow) {
        this.server = address.toString();
        this.command = command;
        requestStart = command.requestStart();
        requestEnd = command.requestEnd();
        valueStart = command.valueStart();
        miss = command.miss();
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new MeasurementException("no selector: " + e.getMessage(), e);
        }
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new Connection(address, maxWindow));
            }
        } catch (IOException e) {
            close();
            throw new MeasurementException("cannot connect to " + address + ": " + e.getMessage(), e);
        }
    }

    @Override
    public LoadOutcome run(KeySpace pairs, int maxOutstanding, Arrivals when) {
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
        return new LoadOutcome(gets, errors, System.nanoTime() - startNs, latencies);
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

    private byte[][] requestsOf(KeySpace pairs) {
        byte[][] all = new byte[pairs.size()][];
        for (int i = 0; i < all.length; i++) {
            all[i] = command.requestOf(pairs.key(i));
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
        private final SocketChannel channel;
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

        Connection(InetSocketAddress address, int maxWindow) throws IOException {
            asked = new int[maxWindow];
            askedNs = new long[maxWindow];
            lastOfRequest = new boolean[maxWindow];
            output = ByteBuffer.allocateDirect(maxWindow * MAX_REQUEST_LENGTH);
            channel = SocketChannel.open();
            try {
                channel.socket().connect(address, TIMEOUT_MS);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.configureBlocking(false);
                key = channel.register(selector, SelectionKey.OP_READ, this);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        }

        void handle(SelectionKey ready) throws IOException {
            if (ready.isWritable()) {
                send();
            }
            if (!ready.isReadable()) {
                return;
            }
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
            askWhatIsDue();
            send();
        }

        /** Takes a line, a piece of a value, or what follows a value; false if that has not come yet. */
        private boolean takeSome() throws IOException {
            if (!inValue) {
                return takeLine();
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

        private boolean takeLine() throws IOException {
            int start = input.position();
            int end = start;
            while (end < input.limit() && input.get(end) != '\n') {
                end++;
            }
            if (end == input.limit()) {
                return false;
            }
            input.position(end + 1);
            if (outstanding > 0 && isMiss(start, end - 1)) {
                missed();
                return input.hasRemaining();
            }
            if (outstanding == 0 || lengthIn(start, end - 1) != keys.valueLength()) {
                throw new IOException("answer to " + command.label() + " is not a value of " + keys.valueLength()
                        + " bytes: "
                        + text(start, end));
            }
            inValue = true;
            right = true;
            valueDone = 0;
            trailerLeft = command.trailerLength(lastOfRequest[first]);
            return true;
        }

        private boolean isMiss(int start, int end) {
            boolean same = end - start == miss.length;
            for (int i = 0; same && i < miss.length; i++) {
                same = input.get(start + i) == miss[i];
            }
            return same;
        }

        /** One value is not there; of many keys, all that were still to come. */
        private void missed() {
            do {
                errors++;
                first = (first + 1) % asked.length;
                outstanding--;
            } while (command == GetCommand.MULTI && outstanding > 0);
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
            if (outstanding == window || !arrivals.isDue(nowNs) || (command == GetCommand.MULTI && outstanding > 0)) {
                return;
            }
            output.put(requestStart);
            int slot = 0;
            while (outstanding < window && arrivals.isDue(nowNs)) {
                int index = random.next(keys.size());
                slot = (first + outstanding) % asked.length;
                asked[slot] = index;
                askedNs[slot] = arrivals.take(nowNs);
                lastOfRequest[slot] = command != GetCommand.MULTI;
                outstanding++;
                output.put(keyRequests[index]);
            }
            lastOfRequest[slot] = true;
            output.put(requestEnd);
        }

        private void send() throws IOException {
            if (output.position() == 0) {
                return;
            }
            output.flip();
            channel.write(output);
            boolean all = !output.hasRemaining();
            output.compact();
            key.interestOps(all ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }

        /** The number that stands for the length in a line, or -1. */
        private long lengthIn(int start, int end) {
            int at = start;
            for (byte expected : valueStart) {
                if (at >= end || input.get(at++) != expected) {
                    return -1;
                }
            }
            for (int word = 1; word < command.lengthWord() && at < end; at++) {
                if (input.get(at) == ' ') {
                    word++;
                }
            }
            long length = at < end ? 0 : -1;
            for (; at < end && length >= 0 && input.get(at) != ' '; at++) {
                int digit = input.get(at) - '0';
                length = digit >= 0 && digit <= 9 ? length * 10 + digit : -1;
            }
            return length;
        }

        private String text(int start, int end) {
            StringBuilder line = new StringBuilder();
            for (int at = start; at < end && line.length() < 80; at++) {
                line.append((char) input.get(at));
            }
            return line.toString().strip();
        }
    }
}
