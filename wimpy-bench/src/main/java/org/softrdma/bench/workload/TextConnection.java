package org.softrdma.bench.workload;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;

/** One connection: what it has asked, in order, and what has come of the answers. The thread of its connections. */
final class TextConnection {
    private static final int CONNECT_MS = 10_000;
    private static final int LEAST_INPUT = 256 * 1024;
    private static final int TEXT_OF_A_REQUEST = 400;
    private static final int TEXT_SHOWN = 80;
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final TextDialect dialect;
    private final SocketChannel channel;
    private final ByteBuffer input;
    private final MemorySegment inputSegment;
    private final ByteBuffer output;
    private final MemorySegment outputSegment;
    private final byte[] getStart;
    private final byte[] getEnd;
    private final byte[] manyStart;
    private final byte[] manyEnd;
    private final byte[] putStart;
    private final byte[] putEnd;
    private final byte[] valueStart;
    private final byte[] miss;
    private final byte[] stored;
    private final long[] tags;
    private final boolean[] puts;
    private final boolean[] lastOfRequest;
    private byte[] putMiddle = {};
    private long putMiddleLength = -1;
    private int first;
    private int outstanding;
    /** Keys of a get of many that is still open. */
    private int open;

    private long requests;

    TextConnection(InetSocketAddress address, Selector selector, TextDialect dialect, int window, int maxValueLength)
            throws IOException {
        this.dialect = dialect;
        getStart = dialect.getStart(MixPairs.KEY_LENGTH);
        getEnd = dialect.getEnd();
        manyStart = dialect.manyStart();
        manyEnd = dialect.manyEnd();
        putStart = dialect.putStart(MixPairs.KEY_LENGTH);
        putEnd = dialect.putEnd();
        valueStart = dialect.valueStart();
        miss = dialect.miss();
        stored = dialect.stored();
        tags = new long[window];
        puts = new boolean[window];
        lastOfRequest = new boolean[window];
        int most = window * (maxValueLength + TEXT_OF_A_REQUEST);
        input = ByteBuffer.allocateDirect(Math.max(LEAST_INPUT, most));
        inputSegment = MemorySegment.ofBuffer(input);
        output = ByteBuffer.allocateDirect(most);
        outputSegment = MemorySegment.ofBuffer(output);
        channel = SocketChannel.open();
        try {
            channel.socket().connect(address, CONNECT_MS);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    boolean startGet(byte[] key, long tag) {
        boolean many = dialect == TextDialect.MULTI_KEY;
        if (outstanding == tags.length || (many && outstanding > open)) {
            return false; // a get of many keys goes out when the last one is answered
        }
        add(tag, false);
        if (many && open == 0) {
            output.put(manyStart);
        }
        open += many ? 1 : 0;
        requests += many && open > 1 ? 0 : 1;
        output.put(getStart).put(key).put(getEnd);
        return true;
    }

    boolean startPut(byte[] key, MemorySegment value, long tag) {
        if (outstanding == tags.length) {
            return false;
        }
        endMany();
        add(tag, true);
        if (value.byteSize() != putMiddleLength) {
            putMiddleLength = value.byteSize();
            putMiddle = dialect.putMiddle((int) putMiddleLength);
        }
        output.put(putStart).put(key).put(putMiddle);
        MemorySegment.copy(value, 0, outputSegment, output.position(), value.byteSize());
        output.position(output.position() + (int) value.byteSize());
        output.put(putEnd);
        requests++;
        return true;
    }

    /** Requests so far; each has one answer. */
    long requests() {
        return requests;
    }

    private void add(long tag, boolean put) {
        int slot = (first + outstanding) % tags.length;
        tags[slot] = tag;
        puts[slot] = put;
        lastOfRequest[slot] = dialect != TextDialect.MULTI_KEY;
        outstanding++;
    }

    private void endMany() {
        if (open > 0) {
            output.put(manyEnd);
            lastOfRequest[(first + outstanding - 1) % tags.length] = true;
            open = 0;
        }
    }

    /** Sends what was started, as far as the kernel takes it. */
    void send() throws IOException {
        endMany();
        if (output.position() > 0) {
            output.flip();
            channel.write(output);
            output.compact();
        }
    }

    /** Takes what has come; the number of results. */
    int receive(ResultHandler handler) throws IOException {
        if (channel.read(input) < 0) {
            throw new IOException("the server closed a connection");
        }
        input.flip();
        int count = 0;
        for (int taken = take(handler); taken > 0; taken = take(handler)) {
            count += taken;
        }
        if (input.hasRemaining()) {
            input.compact();
        } else {
            input.clear();
        }
        return count;
    }

    /** Takes one answer if all of it has come; how many operations have ended by it. */
    private int take(ResultHandler handler) throws IOException {
        int start = input.position();
        int end = start;
        while (end < input.limit() && input.get(end) != '\n') {
            end++;
        }
        if (end == input.limit()) {
            return 0;
        }
        if (outstanding == 0) {
            throw new IOException("an answer to nothing: " + text(start, end));
        }
        if (puts[first]) {
            return takeStored(start, end, handler);
        }
        if (is(miss, start, end - 1)) {
            input.position(end + 1);
            return missed(handler);
        }
        return takeValue(start, end, handler);
    }

    private int takeStored(int start, int end, ResultHandler handler) throws IOException {
        if (is(stored, start, end - 1)) {
            input.position(end + 1);
            ended(handler, Outcome.STORED, 0, 0);
            return 1;
        }
        if (text(start, end).contains("memory")) {
            input.position(end + 1);
            ended(handler, Outcome.FULL, 0, 0);
            return 1;
        }
        throw new IOException("a pair was not stored: " + text(start, end));
    }

    /** One value is not there; of many keys, all that were still to come. */
    private int missed(ResultHandler handler) {
        int count = 0;
        boolean last = false;
        while (!last) {
            last = lastOfRequest[first];
            ended(handler, Outcome.MISSING, 0, 0);
            count++;
        }
        return count;
    }

    private int takeValue(int start, int end, ResultHandler handler) throws IOException {
        int length = lengthIn(start, end - 1);
        if (length < 0) {
            throw new IOException("no answer to a GET: " + text(start, end));
        }
        int next = end + 1 + length + dialect.trailerLength(lastOfRequest[first]);
        if (next > input.limit()) {
            return 0;
        }
        input.position(next);
        ended(handler, Outcome.FOUND, end + 1, length);
        return 1;
    }

    private void ended(ResultHandler handler, Outcome outcome, int offset, int length) {
        long tag = tags[first];
        first = (first + 1) % tags.length;
        outstanding--;
        handler.onResult(tag, outcome, length == 0 ? NOTHING : inputSegment, offset, length);
    }

    private boolean is(byte[] line, int start, int end) {
        boolean same = end - start == line.length;
        for (int i = 0; same && i < line.length; i++) {
            same = input.get(start + i) == line[i];
        }
        return same;
    }

    /** The number that stands for the length in a line, or -1. */
    private int lengthIn(int start, int end) {
        int at = start;
        for (byte expected : valueStart) {
            if (at >= end || input.get(at++) != expected) {
                return -1;
            }
        }
        for (int word = 1; word < dialect.lengthWord() && at < end; at++) {
            if (input.get(at) == ' ') {
                word++;
            }
        }
        int length = at < end ? 0 : -1;
        for (; at < end && length >= 0 && input.get(at) != ' '; at++) {
            int digit = input.get(at) - '0';
            length = digit >= 0 && digit <= 9 && length < LEAST_INPUT * 64 ? length * 10 + digit : -1;
        }
        return length <= input.capacity() ? length : -1;
    }

    private String text(int start, int end) {
        StringBuilder line = new StringBuilder();
        for (int at = start; at < end && line.length() < TEXT_SHOWN; at++) {
            line.append((char) input.get(at));
        }
        return line.toString().strip();
    }

    void close() throws IOException {
        channel.close();
    }
}
