package org.softrdma.bench.workload;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;

/** One connection: what it has asked, in order, and what has come of the answers. The thread of its connections. */
final class TextConnection {
    private static final int CONNECT_MS = 10_000;
    private static final int LEAST_INPUT = 256 * 1024;
    private static final int TEXT_OF_A_REQUEST = 400;
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final TcpCommands commands;
    private final AnswerHead head;
    private final LoadChannel channel;
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

    TextConnection(InetSocketAddress address, Selector selector, TcpCommands commands, int window, int maxValueLength)
            throws IOException {
        this.commands = commands;
        head = commands.head();
        getStart = commands.getStart(MixPairs.KEY_LENGTH);
        getEnd = commands.getEnd();
        manyStart = commands.requestStart();
        manyEnd = commands.requestEnd();
        putStart = commands.putStart(MixPairs.KEY_LENGTH);
        putEnd = commands.putEnd();
        stored = commands.stored();
        tags = new long[window];
        puts = new boolean[window];
        lastOfRequest = new boolean[window];
        int most = window * (maxValueLength + TEXT_OF_A_REQUEST);
        input = ByteBuffer.allocateDirect(Math.max(LEAST_INPUT, most));
        inputSegment = MemorySegment.ofBuffer(input);
        output = ByteBuffer.allocateDirect(most);
        outputSegment = MemorySegment.ofBuffer(output);
        channel = new LoadChannel(address, CONNECT_MS, null);
        SelectionKey ignored = channel.register(selector, this);
    }

    boolean startGet(byte[] key, long tag) {
        boolean many = commands == TcpCommands.MULTI_KEY;
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
            putMiddle = commands.putMiddle((int) putMiddleLength);
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
        lastOfRequest[slot] = commands != TcpCommands.MULTI_KEY;
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
            boolean ignored = channel.write(output);
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
        if (outstanding > 0 && !puts[first]) {
            return takeValue(handler);
        }
        int end = LineHead.endOfLine(input);
        if (end == input.limit()) {
            return 0;
        }
        if (outstanding == 0) {
            throw new IOException("an answer to nothing: " + head.describe(input));
        }
        return takeStored(end, handler);
    }

    private int takeStored(int end, ResultHandler handler) throws IOException {
        boolean done = LineHead.is(stored, input, input.position(), end - 1);
        if (!done && !head.describe(input).contains("memory")) {
            throw new IOException("a pair was not stored: " + head.describe(input));
        }
        input.position(end + 1);
        ended(handler, done ? Outcome.STORED : Outcome.FULL, 0, 0);
        return 1;
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

    private int takeValue(ResultHandler handler) throws IOException {
        int start = input.position();
        int length = head.take(input);
        if (length == AnswerHead.MISS) {
            return missed(handler);
        }
        int value = input.position();
        if (length == AnswerHead.REFUSED || length > input.capacity()) {
            input.position(start);
            throw new IOException("no answer to a GET: " + head.describe(input));
        }
        int next = value + length + commands.trailerLength(lastOfRequest[first]);
        if (length == AnswerHead.INCOMPLETE || next > input.limit()) {
            input.position(start);
            return 0;
        }
        input.position(next);
        ended(handler, Outcome.FOUND, value, length);
        return 1;
    }

    private void ended(ResultHandler handler, Outcome outcome, int offset, int length) {
        long tag = tags[first];
        first = (first + 1) % tags.length;
        outstanding--;
        handler.onResult(tag, outcome, length == 0 ? NOTHING : inputSegment, offset, length);
    }

    void close() throws IOException {
        channel.close();
    }
}
