package org.softrdma.kv.memcached;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the bytes of one connection into command lines and values, wherever the network cut them. A pull parser: the
 * owner calls {@link #next} as long as it wants more and may stop at any point, so nothing piles up here while a
 * client does not read its answers. Keeps at most one line of bounded length, whatever a client sends: a get with
 * many keys becomes several requests, of which only the last ends the answer ({@link TextRequest#isPart}). A value
 * goes where {@link #expectValue} says, without a stop in between.
 */
public final class TextDecoder {
    /** What {@link #next} found. */
    public enum Event {
        /** All bytes are used up. */
        NEED_INPUT,
        /** A command line: {@link #request()}. */
        REQUEST,
        /** The end of an expected value: {@link #isValueTerminated()}. */
        VALUE,
        /** A line that is too long; close the connection, as memcached does. */
        LINE_TOO_LONG
    }

    /**
     * memcached's limit for a line whose end has not come; one of get, gets, gat or gats is taken in parts of this
     * length.
     */
    public static final int MAX_LINE_LENGTH = 2048;

    /** The limit for a line that comes in one piece: the length of memcached's buffer. */
    public static final int MAX_WHOLE_LINE_LENGTH = 16 * 1024;

    /** The limit for what stands before the first key of a long get. */
    private static final int MAX_PREFIX_LENGTH = 256;

    private static final int MAX_BLANKS = 100;

    private static final int INITIAL_LINE_LENGTH = 512;
    private static final int TERMINATOR_LENGTH = 2;

    private final TextRequest request = new TextRequest();
    private final RequestParser parser = new RequestParser(request);
    private byte[] line = new byte[INITIAL_LINE_LENGTH];
    private int lineLength;
    private boolean onlyShortLines;

    /** What comes goes on with a get. */
    private boolean continuing;

    /** What comes up to the end of the line belongs to a request that was refused. */
    private boolean skipping;

    private @Nullable Consumer<ByteBuffer> valueTaker;
    private int valueLeft;
    private int terminatorLeft;
    private boolean terminated;

    /** A decoder at the start of a connection. */
    public TextDecoder() {}

    /** The request of the last {@link Event#REQUEST}. */
    public TextRequest request() {
        return request;
    }

    /**
     * Sets whether no line may be longer than {@link #MAX_LINE_LENGTH}, not even one that is whole, or a get.
     *
     * @param only true while nobody knows who the client is
     */
    public void onlyShortLines(boolean only) {
        onlyShortLines = only;
    }

    /**
     * Says where the value behind a set goes; to be called before the next {@link #next}.
     *
     * @param taker takes all bytes of each buffer that it gets, piece by piece as they come; null to skip them
     * @param length bytes of the value
     */
    public void expectValue(@Nullable Consumer<ByteBuffer> taker, int length) {
        valueTaker = taker;
        valueLeft = length;
        terminatorLeft = TERMINATOR_LENGTH;
        terminated = true;
    }

    /** True while the value that was expected has not all come. */
    public boolean expectsValue() {
        return terminatorLeft > 0;
    }

    /** True if a request has begun to come, and has not all come. */
    public boolean isWithinRequest() {
        return terminatorLeft > 0 || lineLength > 0 || skipping;
    }

    /** True if the last value was followed by a line end. */
    public boolean isValueTerminated() {
        return terminated;
    }

    /**
     * Takes bytes up to the next event.
     *
     * @param input what came; its position moves
     */
    public Event next(ByteBuffer input) {
        return terminatorLeft > 0 ? nextValue(input) : nextLine(input);
    }

    private Event nextValue(ByteBuffer input) {
        int length = Math.min(valueLeft, input.remaining());
        int end = input.position() + length;
        if (valueTaker != null && length > 0) {
            int limit = input.limit();
            input.limit(end);
            valueTaker.accept(input);
            input.limit(limit);
        }
        input.position(end);
        valueLeft -= length;
        while (valueLeft == 0 && terminatorLeft > 0 && input.hasRemaining()) {
            terminated &= input.get() == (terminatorLeft == TERMINATOR_LENGTH ? '\r' : '\n');
            terminatorLeft--;
        }
        if (terminatorLeft > 0) {
            return Event.NEED_INPUT;
        }
        valueTaker = null;
        return Event.VALUE;
    }

    private Event nextLine(ByteBuffer input) {
        if (skipping && !skipLine(input)) {
            return needInput();
        }
        int start = input.position();
        // Not further than a line may be long: each part of a long get looks for the end again.
        int end = Math.min(input.limit(), start + MAX_WHOLE_LINE_LENGTH + 1);
        int newline = start;
        while (newline < end && input.get(newline) != '\n') {
            newline++;
        }
        int added = newline - start;
        if (lineLength + added > MAX_LINE_LENGTH && !onlyShortLines && isGet(input, start)) {
            return nextPart(input);
        }
        if (lineLength + added > (newline < end && !onlyShortLines ? MAX_WHOLE_LINE_LENGTH : MAX_LINE_LENGTH)) {
            return Event.LINE_TOO_LONG;
        }
        append(input, added);
        if (newline == end) {
            return needInput();
        }
        input.position(newline + 1);
        int length = lineLength;
        lineLength = 0;
        parser.parse(line, length > 1 && line[length - 1] == '\r' ? length - 1 : length, false, continuing);
        continuing = false;
        if (line.length > MAX_LINE_LENGTH * 2) {
            line = new byte[INITIAL_LINE_LENGTH]; // the request keeps the long one until it is done with
        }
        return Event.REQUEST;
    }

    /** Cuts a long get in two: the keys that are here, and the same command for those that follow. */
    private Event nextPart(ByteBuffer input) {
        append(input, MAX_LINE_LENGTH - lineLength);
        int cut = lineLength;
        while (cut > 0 && line[cut - 1] != ' ') {
            cut--;
        }
        byte[] whole = line;
        int left = lineLength - cut;
        lineLength = 0;
        parser.parse(whole, cut, true, continuing);
        if (left > TextProtocol.MAX_KEY_LENGTH || request.command() == TextCommand.INVALID) {
            parser.parse(whole, cut + left, false, false); // for its error: a key is too long, or the exptime no number
            line = new byte[INITIAL_LINE_LENGTH];
            continuing = false;
            skipping = true;
            return request.command() == TextCommand.INVALID ? Event.REQUEST : Event.LINE_TOO_LONG;
        }
        int prefix = request.keyCount() == 0 ? 0 : request.key(0).offset();
        if (prefix == 0 || prefix > MAX_PREFIX_LENGTH) {
            return Event.LINE_TOO_LONG; // nearly all of it is blanks
        }
        line = new byte[MAX_LINE_LENGTH];
        System.arraycopy(whole, 0, line, 0, prefix);
        System.arraycopy(whole, cut, line, prefix, left);
        lineLength = prefix + left;
        continuing = true;
        return Event.REQUEST;
    }

    /** True once the end of the line is passed. */
    private boolean skipLine(ByteBuffer input) {
        while (skipping && input.hasRemaining()) {
            skipping = input.get() != '\n';
        }
        return !skipping;
    }

    /** The last request is done with, or its owner would not have asked for the next. */
    private Event needInput() {
        request.release();
        return Event.NEED_INPUT;
    }

    private void append(ByteBuffer input, int added) {
        if (lineLength + added > line.length) {
            line = Arrays.copyOf(line, Math.max(2 * line.length, lineLength + added));
        }
        input.get(line, lineLength, added);
        lineLength += added;
    }

    /** True if a long line is a get, gets, gat or gats, judged by its first bytes. */
    private boolean isGet(ByteBuffer input, int start) {
        int at = 0;
        while (at < MAX_BLANKS && byteAt(input, start, at) == ' ') {
            at++;
        }
        byte second = byteAt(input, start, at + 1);
        return byteAt(input, start, at) == 'g'
                && (second == 'e' || second == 'a')
                && byteAt(input, start, at + 2) == 't'
                && (byteAt(input, start, at + 3) == ' '
                        || (byteAt(input, start, at + 3) == 's' && byteAt(input, start, at + 4) == ' '));
    }

    private byte byteAt(ByteBuffer input, int start, int index) {
        return index < lineLength ? line[index] : input.get(start + index - lineLength);
    }
}
